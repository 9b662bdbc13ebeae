// Elements, tables and numbers. Text goes in as text nodes only: what a record holds is never markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** A line of recent values, oldest first. */
export function spark(values) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", "0 0 60 20");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const top = Math.max(...values, 1e-9);
  const step = 60 / Math.max(values.length - 1, 1);
  path.setAttribute("d", values.map((value, at) => `${at ? "L" : "M"}${(at * step).toFixed(2)} ${(19 - (18 * value) / top).toFixed(2)}`).join(""));
  svg.append(path);
  return svg;
}

export function tile(name, value, { note, history, wide } = {}) {
  const long = String(value).length > 14;
  return h("div", { class: wide ? "tile wide" : "tile" },
    h("dt", {}, name),
    h("dd", { class: long ? "long" : undefined }, String(value), note ? h("small", {}, ` ${note}`) : null, history ? spark(history) : null));
}

const ROWS_MAX = 500;

/**
 * A table whose columns say what they show. A column: {name, of: row => sort key, show: row => node, number, text, title}.
 * `memory` keeps the order that the reader chose while the page renews itself. Of many rows the first are shown.
 */
export function table(columns, rows, memory, empty) {
  const { by, down } = memory;
  const column = columns[by];
  if (column) {
    const sign = down ? -1 : 1;
    rows = rows.slice().sort((a, b) => sign * compare(column.of(a), column.of(b)));
  }
  const head = columns.map((column, at) => h("th", { class: column.number ? "number" : undefined, scope: "col",
    "aria-sort": at === by ? (down ? "descending" : "ascending") : undefined },
    memory.changed
      ? h("button", { type: "button", onclick: () => { memory.down = at === by ? !down : !!column.number; memory.by = at; memory.changed(); } }, column.name)
      : column.name));
  const more = Math.max(0, rows.length - ROWS_MAX);
  const body = rows.slice(0, ROWS_MAX).map((row) => h("tr", {}, columns.map((column) => h("td",
    { class: [column.number && "number", column.text && "text", column.title && "title"].filter(Boolean).join(" ") || undefined, "data-name": column.name },
    (column.show ?? column.of)(row)))));
  return h("div", { class: "sheet" }, h("table", { class: "cards" },
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, body.length ? body : wide(columns, empty), more ? wide(columns, `${count(more)} more are not shown.`) : null)));
}

const wide = (columns, words) => h("tr", {}, h("td", { colspan: columns.length, class: "quiet title" }, words));

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
}

const grouped = new Intl.NumberFormat();
export const count = (value) => (value === null || value === undefined || value < 0 ? "–" : grouped.format(value));

export function bytes(value) {
  if (value === null || value === undefined || value < 0) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export const rate = (value) => (value < 10 ? value.toFixed(1) : count(Math.round(value)));

export function moment(time_ms) {
  if (time_ms === null || time_ms === undefined || time_ms < 0) return "–";
  const at = new Date(time_ms);
  if (Number.isNaN(at.getTime())) return String(time_ms); // Further off than a calendar goes.
  const pad = (number, width = 2) => String(number).padStart(width, "0");
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`;
}

export const link = (text, ...path) => h("a", { href: `#/${path.map(encodeURIComponent).join("/")}` }, text);
