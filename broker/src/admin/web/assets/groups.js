// Groups, and one of them: members, and how far behind each partition is.
import { count, h, link, table, tile } from "./dom.js";

const NAMELESS = "(no name)";
const held = (member) => Object.values(member.assigned).reduce((sum, partitions) => sum + partitions.length, 0);
const state = (row) => h("span", { class: `tag ${{ Stable: "good", Empty: "", Dead: "bad" }[row.state] ?? "warn"}` }, row.state);

export async function groups(ask, place) {
  const { groups } = await ask("groups");
  place.memory.changed = place.redraw;
  if (place.memory.by === undefined) place.memory.by = 0;
  const words = (place.words ?? "").toLowerCase();
  const columns = [
    { name: "Group", of: (row) => row.id, show: (row) => link(row.id || NAMELESS, "groups", row.id), text: true, title: true },
    { name: "State", of: (row) => row.state, show: state },
    { name: "Type", of: (row) => row.type },
    { name: "Members", of: (row) => row.members, show: (row) => count(row.members), number: true },
    { name: "Lag", of: (row) => row.lag ?? -1, show: (row) => count(row.lag), number: true },
  ];
  return [
    h("h1", {}, "Groups"),
    h("form", { onsubmit: (event) => event.preventDefault() },
      h("label", {}, "Name contains", h("input", { type: "search", name: "words", value: place.words ?? "", oninput: (event) => { place.words = event.target.value; place.redraw(); } }))),
    table(columns, groups.filter((group) => group.id.toLowerCase().includes(words)), place.memory,
      groups.length ? "No group has that in its name." : "There is no group yet."),
  ];
}

export async function group(ask, place) {
  const [name] = place.names;
  // Behind a question mark, since no path has a part `..` or none at all.
  const group = await ask(`groups?id=${encodeURIComponent(name)}`);
  place.memory.changed = place.redraw;
  return [
    h("p", { class: "crumb" }, link("Groups", "groups"), " /"),
    h("h1", {}, group.id || NAMELESS),
    h("dl", { class: "tiles" },
      tile("State", group.state),
      tile("Type", group.type),
      tile("Members", count(group.members.length)),
      tile("Lag", count(group.lag)),
      tile("Assignor", group.assignor || "–")),
    h("h2", {}, "Offsets"),
    table([
      { name: "Partition", of: (row) => `${row.topic}-${row.partition}`, show: (row) => [link(row.topic, "topics", row.topic), ` · ${row.partition}`], text: true, title: true },
      { name: "Committed", of: (row) => row.committed ?? -1, show: (row) => count(row.committed), number: true },
      { name: "End", of: (row) => row.end ?? -1, show: (row) => count(row.end), number: true },
      { name: "Lag", of: (row) => row.lag ?? -1, show: (row) => h("span", { class: row.lag > 0 ? "warn" : undefined }, count(row.lag)), number: true },
      { name: "Member", of: (row) => row.memberId ?? "", show: (row) => h("code", {}, row.memberId ?? "–"), text: true },
    ], group.offsets, place.memory, "Nothing is committed, and nobody has a partition."),
    h("h2", {}, "Members"),
    table([
      { name: "Member", of: (row) => row.id, show: (row) => h("code", {}, row.id), text: true, title: true },
      { name: "Client", of: (row) => row.clientId },
      { name: "Host", of: (row) => row.host },
      { name: "Instance", of: (row) => row.instanceId ?? "–" },
      { name: "Partitions", of: held, show: (row) => count(held(row)), number: true },
    ], group.members, {}, "No member now."),
  ];
}
