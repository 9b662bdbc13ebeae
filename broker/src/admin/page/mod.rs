//! The pages under `/api`, as JSON, for whoever shows them to people. All are read by GET; offsets,
//! sizes and counts are numbers, times are milliseconds since 1970, and `null` is "there is none".
//! An error is `{"error": ".."}` with a status that fits.
//!
//! | path | what it holds |
//! |---|---|
//! | `/api/brokers` | `clusterId`, `nodeId`, `version`, `state`, `controllerId`, `metadataVersion`, `readsMessages`, `nowMs`; `brokers`: `id`, `rack`, `fenced`, `shuttingDown`, `listeners` (`name`, `host`, `port`); `logDirs`: `path`, `failure`, `full`, `totalBytes`, `freeBytes` |
//! | `/api/topics` | `topics`: `name`, `id`, `internal`, `partitions`, `replicationFactor`, `bytes`, `messages` (end less start), `underReplicated`, `offline` (counts of partitions) |
//! | `/api/topics/NAME` | the same of one, with `configs` (`name`, `value`, `source`) that differ from the defaults, and `partitions`: `partition`, `leader`, `leaderEpoch`, `replicas`, `isr`, `offline`, `startOffset`, `endOffset`, `bytes`, `segments`, `logDir` |
//! | `/api/topics/NAME/messages` | see [`messages`] |
//! | `/api/groups` | `groups`: `id`, `type`, `state`, `protocolType`, `members` (their number), `topics` (names), `lag` (their sum) |
//! | `/api/groups/NAME` | the same of one, with `assignor`, `members`: `id`, `instanceId`, `clientId`, `host`, `assigned` (by topic, numbers); and `offsets`: `topic`, `partition`, `committed`, `end`, `lag`, `memberId` |
//! | `/api/groups?id=NAME` | that group too: a name may be `..`, which no path keeps |
//! | `/api/rates` | counters since the start, of which two readings make a rate: `nowMs`, `monotonicMs`, `connections` (open now), `requests`, `messagesIn`, `bytesIn`, `bytesOut`; `topics`: by name, the last three |
//!
//! A name in a path is percent-encoded.

mod brokers;
mod groups;
mod messages;
mod named;
mod rates;
mod topics;

pub(super) use named::answer;
