// The messages of one topic, from any offset, or as they come, the newest first.
import { bytes, count, h, link, moment, table } from "./dom.js";

const PAGE = 50;
const FOLLOWED = 200;

export async function messages(ask, place) {
  const [name] = place.names;
  const topic = await ask(`topics/${encodeURIComponent(name)}`);
  const size = (one) => Math.max(0, (one.endOffset ?? 0) - (one.startOffset ?? 0));
  const chosen = (place.chosen ??= { partition: topic.partitions.find((one) => size(one))?.partition ?? 0, from: "offset=latest" });
  const page = await ask(`topics/${encodeURIComponent(name)}/messages?partition=${chosen.partition}&count=${place.live ? FOLLOWED : PAGE}&${chosen.from}`);
  if (place.live) {
    // What is read stays as it is while nothing comes, so that it can be marked and copied.
    if (place.followed && !page.messages.length) return null;
    place.followed = [...(place.followed ?? []), ...page.messages].slice(-FOLLOWED);
    // Where more comes than is shown, what lies between is passed over.
    chosen.from = page.endOffset - page.nextOffset > FOLLOWED ? "offset=latest" : `offset=${page.nextOffset}`;
  }
  const rows = place.live ? place.followed.toReversed() : page.messages;
  const first = page.messages[0]?.offset ?? page.nextOffset;
  const go = (from, live = false) => { chosen.from = from; place.live = live; place.followed = null; place.redraw(); };
  const columns = [
    { name: "Offset", of: (row) => row.offset, show: (row) => count(row.offset), number: true },
    { name: "Time", of: (row) => row.timestampMs, show: (row) => moment(row.timestampMs) },
    { name: "Key", of: () => "", show: (row) => payload(row.key), text: true },
    { name: "Value", of: () => "", show: (row) => row.error ? h("span", { class: "bad" }, row.error) : payload(row.value), text: true },
    { name: "Headers", of: () => "", show: (row) => row.headers.length ? row.headers.map((one) => h("div", { class: "pair" }, h("code", {}, `${one.key}: `), payload(one.value))) : "–", text: true },
  ];
  const step = (words, from, off) => h("button", { type: "button", name: words.toLowerCase(), disabled: off, onclick: () => go(from) }, words);
  return [
    h("p", { class: "crumb" }, link("Topics", "topics"), " / ", link(topic.name, "topics", topic.name), " /"),
    h("h1", {}, "Messages"),
    h("form", { onsubmit: (event) => { event.preventDefault(); go(asked(new FormData(event.target))); } },
      h("label", {}, "Partition", h("select", { name: "partition", onchange: (event) => { chosen.partition = Number(event.target.value); go("offset=latest", place.live); } },
        topic.partitions.map((one) => h("option", { value: one.partition, selected: one.partition === chosen.partition }, `${one.partition} (${count(size(one))})`)))),
      h("label", {}, "From offset", h("input", { type: "number", name: "offset", min: 0, placeholder: String(first) })),
      h("label", {}, "or from time", h("input", { type: "datetime-local", name: "time", step: 1 })),
      h("button", { name: "show" }, "Show"),
      step("First", "offset=earliest", first <= page.startOffset),
      step("Older", `offset=${Math.max(page.startOffset, first - PAGE)}`, first <= page.startOffset),
      step("Newer", `offset=${page.nextOffset}`, page.nextOffset >= page.endOffset),
      step("Latest", "offset=latest", false),
      h("button", { type: "button", name: "follow", "aria-pressed": String(!!place.live), onclick: () => go("offset=latest", !place.live) }, "Follow")),
    h("p", { class: "quiet" }, page.endOffset > page.startOffset
      ? `Partition ${page.partition} holds offsets ${count(page.startOffset)} to ${count(page.endOffset - 1)}.`
      : `Partition ${page.partition} holds nothing.`),
    table(columns, rows, {}, place.live ? "No message yet." : "No message here."),
  ];
}

/** What the form asks for, as the broker is asked. */
function asked(form) {
  const offset = form.get("offset"), time_ms = Date.parse(form.get("time"));
  if (offset !== "") return `offset=${offset}`;
  return Number.isNaN(time_ms) ? "offset=latest" : `timestamp=${time_ms}`;
}

/** Text as text, JSON indented, anything else as base64; what the broker cut says how long it is. */
function payload(data) {
  if (data === null) return h("span", { class: "quiet" }, "null");
  const shown = data.text ?? data.base64;
  const length = data.text === undefined ? Math.floor((shown.length * 3) / 4) : new TextEncoder().encode(shown).length;
  return [
    h("pre", {}, data.text === undefined ? shown : pretty(shown)),
    data.text === undefined && h("span", { class: "tag" }, "base64"),
    data.bytes > length && h("span", { class: "quiet" }, ` … ${bytes(data.bytes)} in all`),
  ].filter(Boolean);
}

/** JSON with a line for each part. Every token stays as it came: a number may have more digits than JavaScript's. */
function pretty(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try { JSON.parse(text); } catch { return text; }
  let out = "", depth = 0, opened = false;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g)) {
    const closes = token === "]" || token === "}";
    if (closes) depth -= 1;
    if (opened !== closes) out += line();
    opened = token === "[" || token === "{";
    if (opened) depth += 1;
    out += token === "," ? `,${line()}` : token === ":" ? ": " : token;
  }
  return out;
}
