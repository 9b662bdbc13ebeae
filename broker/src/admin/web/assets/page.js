// The frame: which view the address names, when it renews itself, and whether the broker answers.
import { h } from "./dom.js";
import { brokers } from "./brokers.js";
import { topics, topic } from "./topics.js";
import { groups, group } from "./groups.js";
import { messages } from "./messages.js";

const RENEW_MS = 2000;
const view = document.getElementById("view");
const health = document.getElementById("health");

/** Asks the broker; `path` stands below /api/. Fails with the broker's own words. */
async function ask(path, signal) {
  const answer = await fetch(`api/${path}`, { signal, headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error ?? `HTTP ${answer.status}`);
  return answer.json();
}

// A view: (ask, place) => nodes, or null where nothing is new. `place` lives as long as the view is looked at; `live`, of the view or
// of the place, says that it renews itself.
const VIEWS = [
  { path: /^(?:brokers)?$/, nav: "brokers", show: brokers, live: true },
  { path: /^topics$/, nav: "topics", show: topics, live: true },
  { path: /^topics\/([^/]+)$/, nav: "topics", show: topic, live: true },
  { path: /^topics\/([^/]+)\/messages$/, nav: "topics", show: messages, live: false },
  { path: /^groups$/, nav: "groups", show: groups, live: true },
  { path: /^groups\/([^/]*)$/, nav: "groups", show: group, live: true },
];

let stop = () => {}, wake = () => {};

/** The view that a path names, with the names in it; undefined where it names none. */
function find(path) {
  try {
    return VIEWS.map((view) => ({ ...view, names: view.path.exec(path)?.slice(1).map(decodeURIComponent) })).find((view) => view.names);
  } catch {
    return undefined; // A half of an encoded letter.
  }
}

function open() {
  stop();
  const aborted = new AbortController();
  let timer;
  stop = () => { aborted.abort(); clearTimeout(timer); };
  const path = location.hash.replace(/^#\/?/, "").split("?")[0];
  const found = find(path);
  for (const item of document.querySelectorAll("nav a")) {
    if (found && item.hash === `#/${found.nav}`) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
  if (!found) { view.replaceChildren(h("h1", {}, "There is no such view."), h("a", { href: "#/" }, "Brokers")); return; }
  const place = { names: found.names, memory: {}, history: {}, redraw: () => {} };
  const draw = async () => {
    clearTimeout(timer);
    try {
      const nodes = await found.show((path) => ask(path, aborted.signal), place);
      if (aborted.signal.aborted) return;
      if (nodes) keep(() => view.replaceChildren(...nodes.filter(Boolean)));
      say("", "");
    } catch (why) {
      if (aborted.signal.aborted) return;
      say("lost", why instanceof TypeError ? "The broker does not answer." : why.message);
      if (!view.querySelector("h1")) view.replaceChildren(h("h1", {}, why instanceof TypeError ? "The broker does not answer." : why.message));
    }
    if (found.live || place.live) timer = setTimeout(draw, document.hidden ? 5 * RENEW_MS : RENEW_MS);
  };
  place.redraw = draw;
  wake = () => { if (found.live || place.live) draw(); };
  view.replaceChildren(h("p", { class: "quiet" }, "Loading…"));
  document.title = `Highwater${place.names[0] ? ` · ${place.names[0]}` : ""}`;
  draw();
}

/** Renews the view without taking the cursor from who types in it, or moving what he reads. */
function keep(renew) {
  const active = document.activeElement;
  const name = active && view.contains(active) ? active.getAttribute("name") : null;
  const selection = name && active.selectionStart !== undefined ? [active.selectionStart, active.selectionEnd] : null;
  const scrolled = [...view.querySelectorAll(".sheet")].map((sheet) => sheet.scrollLeft);
  renew();
  view.querySelectorAll(".sheet").forEach((sheet, at) => { sheet.scrollLeft = scrolled[at] ?? 0; });
  const again = name ? view.querySelector(`[name="${CSS.escape(name)}"]`) : null;
  if (again) {
    again.focus({ preventScroll: true });
    if (selection && again.type === "search") again.setSelectionRange(...selection);
  }
}

function say(kind, words) {
  health.className = kind;
  health.textContent = words;
}

addEventListener("hashchange", () => { open(); scrollTo(0, 0); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) wake(); });
open();
