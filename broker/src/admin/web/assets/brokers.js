// Brokers, and what goes through them now.
import { bytes, count, h, moment, rate, table, tile } from "./dom.js";

const KEPT = 60;

/** Turns counters, asked for again and again, into what happened a second; keeps the last of them. */
export function rates(place, counters) {
  const last = place.counters;
  place.counters = counters;
  const seconds = last ? (counters.monotonicMs - last.monotonicMs) / 1000 : 0;
  const now = {};
  for (const name of ["messagesIn", "bytesIn", "bytesOut", "requests"]) {
    const line = (place.history[name] ??= []);
    if (seconds > 0) line.push(Math.max(0, (counters[name] ?? 0) - (last[name] ?? 0)) / seconds);
    if (line.length > KEPT) line.shift();
    now[name] = { now: line.at(-1) ?? 0, line: line.slice() };
  }
  return now;
}

/** Tiles of what goes through, the same for the broker and for a topic. */
export const traffic = (going) => [
  tile("Messages in", rate(going.messagesIn.now), { note: "a second", history: going.messagesIn.line }),
  tile("In", bytes(going.bytesIn.now), { note: "a second", history: going.bytesIn.line }),
  tile("Out", bytes(going.bytesOut.now), { note: "a second", history: going.bytesOut.line }),
];

export async function brokers(ask, place) {
  const [cluster, counters] = await Promise.all([ask("brokers"), ask("rates")]);
  const going = rates(place, counters);
  const columns = [
    { name: "Broker", of: (row) => row.id, show: (row) => `Broker ${row.id}`, title: true },
    { name: "State", of: (row) => condition(row)[1], show: (row) => h("span", { class: `tag ${condition(row)[0]}` }, condition(row)[1]) },
    { name: "Controller", of: (row) => row.id === cluster.controllerId ? "yes" : "no" },
    { name: "Clients are told", of: (row) => addresses(row), text: true },
    { name: "Rack", of: (row) => row.rack ?? "–" },
  ];
  const dirs = [
    { name: "Directory", of: (row) => row.path, show: (row) => h("code", {}, row.path), text: true, title: true },
    { name: "State", of: (row) => row.failure ?? "", show: (row) => row.failure ? h("span", { class: "bad" }, `offline: ${row.failure}`) : row.full ? h("span", { class: "tag warn" }, "full") : h("span", { class: "tag good" }, "online") },
    { name: "Free", of: (row) => row.freeBytes ?? -1, show: (row) => bytes(row.freeBytes), number: true },
    { name: "Disk", of: (row) => row.totalBytes ?? -1, show: (row) => bytes(row.totalBytes), number: true },
  ];
  return [
    h("dl", { class: "tiles" }, traffic(going),
      tile("Requests", rate(going.requests.now), { note: "a second", history: going.requests.line }),
      tile("Connections", count(counters.connections))),
    h("h1", {}, "Brokers"),
    table(columns, cluster.brokers, Object.assign(place.memory, { changed: place.redraw }), "No broker is registered."),
    h("h2", {}, "Log directories of this broker"),
    table(dirs, cluster.logDirs, {}, "None."),
    h("h2", {}, "Cluster"),
    h("dl", { class: "tiles" },
      tile("Cluster id", cluster.clusterId, { wide: true }),
      tile("Highwater", cluster.version),
      tile("Metadata version", cluster.metadataVersion ?? "–"),
      tile("The broker's clock", moment(cluster.nowMs), { wide: true })),
  ];
}

const condition = (broker) => broker.shuttingDown ? ["warn", "stopping"] : broker.fenced ? ["bad", "fenced"] : ["good", "running"];
const addresses = (broker) => broker.listeners.map((one) => `${one.name}://${one.host}:${one.port}`).join(", ");
