//! The same request bytes to Apache Kafka and to Highwater, every API at every version, and equal
//! answers but for the rows of `docs/differences.tsv`.

mod acls;
mod active_groups;
mod admin;
mod consumer_groups;
mod controller;
mod data;
mod fetching;
mod frames;
mod group_records;
mod groups;
mod lookup;
mod member;
mod membership;
mod mixed_groups;
mod normal;

use compat_tests::broker::Broker;
use compat_tests::home::root;
use compat_tests::kafka::{Kafka, Quorum};
use compat_tests::process::until;
use compat_tests::wire::Connection;
use normal::Normal;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{InitProducerIdRequest, MetadataRequest, Request, StrBytes};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;
use tempfile::TempDir;
use uuid::Uuid;

/// After so long an answer no longer counts. Apache Kafka never answers some malformed requests.
const SILENCE: Duration = Duration::from_secs(4);

/// One of the two brokers, and what only it knows.
struct Side {
    port: u16,
    normal: Normal,
}

impl Side {
    /// The id that this broker gave a topic.
    fn topic_id(&self, name: &str) -> Uuid {
        let topic =
            MetadataRequestTopic::default().with_name(Some(StrBytes::from(name.to_owned()).into()));
        let request = MetadataRequest::default().with_topics(Some(vec![topic]));
        let answer = Connection::open(self.port).unwrap().ask(&request, 12).unwrap();
        answer.topics[0].topic_id
    }

    /// Where this node's controller listens, as its quorum says.
    fn controller_port(&self) -> u16 {
        let request = lookup::quorum("__cluster_metadata", &[0]);
        let answer = Connection::open(self.port).unwrap().ask(&request, 2).unwrap();
        answer.nodes[0].listeners[0].port
    }

    fn ask<Q: Request>(&mut self, request: &Q, version: i16) -> String
    where
        Q::Response: Debug,
    {
        let mut connection = Connection::open(self.port).unwrap();
        connection.0.set_read_timeout(Some(SILENCE)).unwrap();
        match connection.ask(request, version) {
            Ok(response) => self.normal.text(&format!("{response:?}")),
            Err(error) => format!("closed ({:?})", error.kind()),
        }
    }
}

/// Both brokers, and what they answered differently: both answers by request.
struct Pair {
    theirs: Side,
    ours: Side,
    found: BTreeMap<String, String>,
    asked: usize,
}

impl Pair {
    /// Asks both the same at each version, and notes where the answers differ.
    fn each<Q: Request>(
        &mut self,
        case: &str,
        versions: std::ops::RangeInclusive<i16>,
        build: impl Fn(i16, &Side) -> Q,
    ) where
        Q::Response: Debug,
    {
        for version in versions {
            let request = build(version, &self.theirs);
            let theirs = self.theirs.ask(&request, version);
            let request = build(version, &self.ours);
            let ours = self.ours.ask(&request, version);
            self.compare(&format!("{}\tv{version} {case}", Q::KEY.name()), &theirs, &ours);
        }
    }

    /// Asks the controllers' listeners in place of the brokers'.
    fn at_controllers(&mut self, ask: impl FnOnce(&mut Pair)) {
        let brokers = (self.theirs.port, self.ours.port);
        (self.theirs.port, self.ours.port) =
            (self.theirs.controller_port(), self.ours.controller_port());
        ask(self);
        (self.theirs.port, self.ours.port) = brokers;
    }

    /// A broker asks its controller for a first block of producer ids; until it has one, clients
    /// are told to ask again.
    fn await_producer_ids(&self) {
        for port in [self.theirs.port, self.ours.port] {
            until("a producer id", Duration::from_secs(30), || {
                let request = InitProducerIdRequest::default().with_transactional_id(None);
                let answer = Connection::open(port).unwrap().ask(&request, 2).unwrap();
                (answer.error_code == 0).then_some(())
            });
        }
    }

    fn compare(&mut self, what: &str, theirs: &str, ours: &str) {
        self.asked += 1;
        if theirs != ours {
            let answers = format!("Apache Kafka: {theirs}\n  Highwater:    {ours}");
            self.found.insert(what.to_owned(), answers);
        }
    }
}

/// A row of `docs/differences.tsv`: the API and the case that it covers (`*` at its end: any rest).
fn rows() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("docs/differences.tsv")).unwrap();
    let wire = text.lines().skip(1).filter_map(|line| line.strip_prefix("wire\t"));
    let row = |line: &str| {
        let mut columns = line.split('\t').map(str::to_owned);
        (columns.next().unwrap(), columns.next().unwrap())
    };
    wire.map(row).collect()
}

fn covers((api, case): &(String, String), what: &str) -> bool {
    let (found_api, found) = what.split_once('\t').unwrap();
    // The version may be left out: then the row speaks of every version.
    let bare = found.split_once(' ').map_or(found, |(_, rest)| rest);
    let equal = |text: &str| match case.strip_suffix('*') {
        Some(front) => text.starts_with(front),
        None => text == case,
    };
    api == found_api && (equal(found) || equal(bare))
}

#[test]
fn equal_requests_get_equal_answers() {
    let (their_dir, our_dir) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    // Groups begin without a delay: what is answered meanwhile does not depend on it.
    let at_once = "group.initial.rebalance.delay.ms=0\n";
    let kafka = Kafka::start_with(their_dir.path(), Quorum::Dynamic, at_once);
    let broker =
        Broker::start(our_dir.path(), &format!("offsets.topic.replication.factor=1\n{at_once}"));
    let side = |port| Side { port, normal: Normal::default() };
    let mut pair = Pair {
        theirs: side(kafka.port),
        ours: side(broker.port),
        found: BTreeMap::new(),
        asked: 0,
    };
    lookup::empty_cluster(&mut pair);
    admin::topics(&mut pair);
    admin::configs(&mut pair);
    acls::refused(&mut pair);
    data::produce(&mut pair);
    data::fetch(&mut pair);
    fetching::limits(&mut pair);
    fetching::orders(&mut pair);
    fetching::sessions(&mut pair);
    fetching::unacknowledged(&mut pair);
    data::offsets(&mut pair);
    lookup::described(&mut pair);
    groups::offsets(&mut pair);
    pair.at_controllers(controller::asked);
    pair.at_controllers(acls::refused);
    data::delete_records(&mut pair);
    membership::classic(&mut pair);
    group_records::compare(&mut pair, their_dir.path(), our_dir.path());
    consumer_groups::told(&mut pair);
    mixed_groups::told(&mut pair);
    active_groups::told(&mut pair);
    lookup::named(&mut pair);
    admin::deletions(&mut pair);
    frames::refused(&mut pair);
    let rows = rows();
    let is_new = |what: &str| !rows.iter().any(|row| covers(row, what));
    let new: Vec<String> = (pair.found.iter().filter(|(what, _)| is_new(what)))
        .map(|(what, answers)| format!("{what}\n  {answers}"))
        .collect();
    let (asked, news) = (pair.asked, new.join("\n"));
    assert!(new.is_empty(), "of {asked} requests {} differ without a row:\n{news}", new.len());
    let stale: Vec<_> =
        rows.iter().filter(|row| !pair.found.keys().any(|what| covers(row, what))).collect();
    assert!(stale.is_empty(), "rows of docs/differences.tsv that no longer differ: {stale:?}");
}

#[test]
fn a_difference_that_is_not_on_the_wire_names_the_test_that_shows_it() {
    let text = std::fs::read_to_string(root().join("docs/differences.tsv")).unwrap();
    for line in text.lines().skip(1) {
        let columns: Vec<_> = line.split('\t').collect();
        assert_eq!(columns.len(), 6, "{line}");
        if columns[0] == "test" {
            let source = std::fs::read_to_string(root().join(columns[1])).unwrap();
            assert!(source.contains(&format!("fn {}(", columns[2])), "{line}");
        } else {
            assert!(["wire", "tool"].contains(&columns[0]), "{line}");
        }
    }
}
