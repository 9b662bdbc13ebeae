// Topics, and one of them: partitions, and the configs that differ from the default.
import { bytes, count, h, link, table, tile } from "./dom.js";
import { rates, traffic } from "./brokers.js";

export async function topics(ask, place) {
  const { topics } = await ask("topics");
  place.memory.changed = place.redraw;
  const words = (place.words ?? "").toLowerCase();
  const shown = topics.filter((topic) => (place.internal || !topic.internal) && topic.name.toLowerCase().includes(words));
  const hidden = topics.length - shown.length;
  const columns = [
    { name: "Topic", of: (row) => row.name, show: (row) => [link(row.name, "topics", row.name), row.internal ? h("span", { class: "tag" }, "internal") : null].filter(Boolean).flatMap((node) => [node, " "]), text: true, title: true },
    { name: "Partitions", of: (row) => row.partitions, show: (row) => count(row.partitions), number: true },
    { name: "Replication", of: (row) => row.replicationFactor, number: true },
    { name: "Messages", of: (row) => row.messages, show: (row) => count(row.messages), number: true },
    { name: "Size", of: (row) => row.bytes, show: (row) => bytes(row.bytes), number: true },
    { name: "State", of: (row) => row.offline + row.underReplicated, show: standing },
  ];
  if (place.memory.by === undefined) place.memory.by = 0;
  return [
    h("h1", {}, "Topics"),
    h("form", { onsubmit: (event) => event.preventDefault() },
      h("label", {}, "Name contains", h("input", { type: "search", name: "words", value: place.words ?? "", oninput: (event) => { place.words = event.target.value; place.redraw(); } })),
      h("button", { type: "button", name: "internal", "aria-pressed": String(!!place.internal), onclick: () => { place.internal = !place.internal; place.redraw(); } }, "Internal topics")),
    table(columns, shown, place.memory, topics.length ? "No topic has that in its name." : "There is no topic yet."),
    hidden ? h("p", { class: "quiet" }, `${count(shown.length)} of ${count(topics.length)} topics`) : null,
  ];
}

export async function topic(ask, place) {
  const [name] = place.names;
  const [topic, cluster, counters] = await Promise.all([ask(`topics/${encodeURIComponent(name)}`), ask("brokers"), ask("rates")]);
  const going = rates(place, { monotonicMs: counters.monotonicMs, ...counters.topics[name] });
  place.memory.changed = place.redraw;
  const columns = [
    { name: "Partition", of: (row) => row.partition, show: (row) => `Partition ${row.partition}`, title: true },
    { name: "Leader", of: (row) => row.leader ?? -1, show: (row) => row.leader === null ? h("span", { class: "tag bad" }, "none") : String(row.leader), number: true },
    { name: "Replicas", of: (row) => row.replicas.join(", "), number: true },
    { name: "In sync", of: (row) => row.isr.join(", "), show: (row) => h("span", { class: row.isr.length < row.replicas.length ? "bad" : undefined }, row.isr.join(", ")), number: true },
    { name: "First offset", of: (row) => row.startOffset ?? -1, show: (row) => count(row.startOffset), number: true },
    { name: "Next offset", of: (row) => row.endOffset ?? -1, show: (row) => count(row.endOffset), number: true },
    { name: "Size", of: (row) => row.bytes, show: (row) => bytes(row.bytes), number: true },
  ];
  return [
    h("p", { class: "crumb" }, link("Topics", "topics"), " /"),
    h("h1", {}, topic.name),
    h("dl", { class: "tiles" }, traffic(going),
      tile("Messages", count(topic.messages)),
      tile("Size", bytes(topic.bytes)),
      tile("Topic id", topic.id, { wide: true })),
    cluster.readsMessages
      ? h("p", {}, link("Read messages", "topics", topic.name, "messages"))
      : h("p", { class: "quiet" }, "Messages are not shown on this port: highwater.admin.read.messages is off."),
    h("h2", {}, "Partitions"),
    table(columns, topic.partitions, place.memory, "No partitions."),
    h("h2", {}, "Configs that differ from the default"),
    table([
      { name: "Key", of: (row) => row.name, show: (row) => h("code", {}, row.name), text: true, title: true },
      { name: "Value", of: (row) => row.value ?? "", show: (row) => h("code", {}, row.value ?? "(hidden)"), text: true },
      { name: "From", of: (row) => row.source },
    ], topic.configs, {}, "None."),
  ];
}

function standing(topic) {
  if (topic.offline) return h("span", { class: "tag bad" }, `${topic.offline} offline`);
  if (topic.underReplicated) return h("span", { class: "tag warn" }, `${topic.underReplicated} under-replicated`);
  return h("span", { class: "tag good" }, "online");
}
