//! What the doctor has seen, before anything is made of it.

use crate::client::{Address, Node};
use std::net::IpAddr;

/// All of one examination.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The addresses that a client begins with.
    pub bootstrap: Vec<Visit>,
    /// Where the first of those that answered sends a client, and what is there.
    pub told: Vec<(Node, Visit)>,
}

impl Seen {
    /// The bootstrap address that a client would go by, and what it was told there.
    #[must_use]
    pub fn teller(&self) -> Option<(&Visit, &Cluster)> {
        self.bootstrap.iter().find_map(|visit| Some((visit, visit.cluster()?)))
    }
}

/// One address, and how far a client gets there.
#[derive(Clone, Debug)]
pub struct Visit {
    pub address: Address,
    /// What its name stands for here; empty where it is no name that is known.
    pub ips: Vec<IpAddr>,
    pub end: End,
}

impl Visit {
    #[must_use]
    pub fn cluster(&self) -> Option<&Cluster> {
        let End::Kafka(cluster) = &self.end else { return None };
        Some(cluster)
    }
}

/// Where a visit ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The name stands for no address.
    Unknown(String),
    /// Nothing listens.
    Refused,
    /// The network does not lead there.
    NoRoute(String),
    /// The connection was not made in time.
    Late,
    /// The connection failed in another way.
    Failed(String),
    /// Connected, and not answered in time.
    Silent,
    /// Connected, and closed before an answer.
    Closed,
    /// A web server.
    Http,
    /// It wants to be spoken to in TLS.
    Tls,
    /// It answers, in no language that is known here.
    Garbage,
    /// A Kafka controller, which has no records.
    Controller,
    /// A broker of which no version of Metadata is spoken here.
    Old,
    /// A broker that answered what it serves, and closed the connection at the next question.
    Dismissed,
    Kafka(Cluster),
}

/// What a broker says of its cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    pub id: Option<String>,
    pub nodes: Vec<Node>,
    /// What the broker says where it is another node than the one that was looked for.
    pub mistaken: Option<String>,
}
