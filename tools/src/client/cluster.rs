//! The brokers of a cluster, found from a few addresses, and who of them is asked.

use super::address::{Address, addresses};
use super::connection::{Connection, Trouble};
use super::refused::Refused;
use crate::failure::Failure;
use crate::output::complain;
use crate::properties::{Properties, millis};
use kraft::env::Env;
use protocol::error::ErrorCode;
use protocol::messages::{
    ApiKey, DescribeClusterRequest, FindCoordinatorRequest, MetadataRequest, Request, StrBytes,
};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Which addresses a client begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance<'a> {
    /// `--bootstrap-server`
    Brokers(&'a str),
    /// `--bootstrap-controller`
    Controllers(&'a str),
}

/// A broker, or behind [`Entrance::Controllers`] a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: i32,
    pub address: Address,
    pub rack: Option<String>,
    /// False where the cluster did not say.
    pub is_fenced: bool,
}

/// Who is to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Anyone,
    /// The active controller, or a broker that hands on to it.
    Controller,
    Node(i32),
}

/// A client of one cluster.
#[derive(Debug)]
pub struct Client {
    env: Env,
    client_id: String,
    bootstrap: Vec<Address>,
    is_controllers: bool,
    /// For one answer, `request.timeout.ms`.
    request_timeout: Duration,
    /// For one question with all its repetitions, `default.api.timeout.ms`.
    api_timeout: Duration,
    connections: BTreeMap<Address, Connection>,
    nodes: BTreeMap<i32, Node>,
    controller: Option<i32>,
    has_complained: bool,
}

/// The wait before the second try, which doubles up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);

impl Client {
    /// A client that has not connected yet.
    ///
    /// # Errors
    /// An address or a property makes no sense.
    pub fn new(
        env: &Env,
        entrance: Entrance<'_>,
        properties: &Properties,
    ) -> Result<Client, Failure> {
        let (list, is_controllers) = match entrance {
            Entrance::Brokers(list) => (list, false),
            Entrance::Controllers(list) => (list, true),
        };
        let seconds = Duration::from_secs;
        Ok(Client {
            env: env.clone(),
            client_id: properties.get("client.id").map_or("highwater-tool", |it| it).to_owned(),
            bootstrap: addresses(list)?,
            is_controllers,
            request_timeout: millis(properties, "request.timeout.ms", seconds(30))?,
            api_timeout: millis(properties, "default.api.timeout.ms", seconds(60))?,
            connections: BTreeMap::new(),
            nodes: BTreeMap::new(),
            controller: None,
            has_complained: false,
        })
    }

    /// How long a request may take at the broker, for the field of it that says so.
    #[must_use]
    pub fn request_timeout_ms(&self) -> i32 {
        i32::try_from(self.request_timeout.as_millis()).unwrap_or(i32::MAX)
    }

    /// Overrides both time-outs.
    pub fn set_timeout(&mut self, limit: Duration) {
        self.request_timeout = limit;
        self.api_timeout = limit;
    }

    /// Whom to ask in the place of `to`: behind `--bootstrap-controller` there are no brokers, and
    /// the active controller answers for them.
    #[must_use]
    pub fn fit(&self, to: To) -> To {
        if self.is_controllers { To::Controller } else { to }
    }

    /// Asks until there is an answer: what fails on the way is tried again, elsewhere where that
    /// is possible, until `default.api.timeout.ms` has passed.
    ///
    /// # Errors
    /// `RequestTimedOut` without an answer in time, `UnsupportedVersion` where the broker cannot
    /// be asked this.
    pub async fn ask<R: Request>(&mut self, to: To, request: &R) -> Result<R::Response, Refused> {
        self.ask_until(to, request, |_| Ok(())).await
    }

    /// As [`Client::ask`], of a broker that serves at least version `least`: before that, the
    /// request means something else.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn ask_from<R: Request>(
        &mut self,
        to: To,
        request: &R,
        least: i16,
    ) -> Result<R::Response, Refused> {
        self.insist(to, (request, least), |_| Ok(())).await
    }

    /// As [`Client::ask`], and asks again while `judge` finds in the answer what may pass
    /// ([`Refused::may_pass`]).
    ///
    /// # Errors
    /// Also what `judge` finds at last.
    pub async fn ask_until<R: Request>(
        &mut self,
        to: To,
        request: &R,
        judge: impl Fn(&R::Response) -> Result<(), Refused>,
    ) -> Result<R::Response, Refused> {
        self.insist(to, (request, R::CODEC.min), judge).await
    }

    async fn insist<R: Request>(
        &mut self,
        to: To,
        (request, least): (&R, i16),
        judge: impl Fn(&R::Response) -> Result<(), Refused>,
    ) -> Result<R::Response, Refused> {
        let end = self.env.clock.monotonic().saturating_add(self.api_timeout);
        let mut pause = PAUSE;
        loop {
            let last = match self.ask_once(to, (request, least)).await {
                Ok(response) => match judge(&response) {
                    Err(refused) if refused.may_pass() => {
                        // Whoever had this role may have given it up.
                        self.nodes.clear();
                        refused
                    }
                    judged => return judged.map(|()| response),
                },
                Err(Attempt::Refused(refused)) => return Err(refused),
                Err(Attempt::Failed(why)) => {
                    self.complain_once(&why);
                    let text = format!(
                        "Timed out waiting for an answer to {} after {} ms: {why}. Is a broker \
                         running there, and does it advertise an address that can be reached from \
                         here?",
                        R::KEY.name(),
                        self.api_timeout.as_millis()
                    );
                    Refused::of(ErrorCode::RequestTimedOut, text)
                }
            };
            if end <= self.env.clock.monotonic().saturating_add(pause) {
                return Err(last);
            }
            sleep(pause).await;
            pause = pause.saturating_mul(2).min(PAUSE_MAX);
        }
    }

    fn complain_once(&mut self, why: &str) {
        if !std::mem::replace(&mut self.has_complained, true) {
            complain(&format!(
                "WARN {why}; trying again for up to {} ms",
                self.api_timeout.as_millis()
            ));
        }
    }

    async fn ask_once<R: Request>(
        &mut self,
        to: To,
        asked: (&R, i16),
    ) -> Result<R::Response, Attempt> {
        let mut failures = Vec::new();
        let mut are_strangers = true;
        for address in self.whom(to).await? {
            match self.ask_at(&address, asked).await {
                Ok(response) => return Ok(response),
                Err(Trouble::Refused(refused)) => return Err(Attempt::Refused(refused)),
                Err(Trouble::Gone(error)) => {
                    self.connections.remove(&address);
                    are_strangers &= error.kind() == ErrorKind::InvalidData;
                    failures.push(format!("{address}: {error}"));
                }
            }
        }
        self.nodes.clear();
        let why = failures.join("; ");
        // A web server is not going to be a broker in a minute.
        if are_strangers && !failures.is_empty() {
            return Err(Attempt::Refused(Refused::of(ErrorCode::NetworkException, why)));
        }
        Err(Attempt::Failed(why))
    }

    /// The addresses to try, in order.
    async fn whom(&mut self, to: To) -> Result<Vec<Address>, Attempt> {
        let id = match to {
            To::Anyone => {
                // Whoever is connected comes first; a cluster that has moved is still found.
                let nodes = self.nodes.values().map(|node| &node.address);
                let known = self.connections.keys().chain(&self.bootstrap).chain(nodes);
                let mut found: Vec<Address> = Vec::new();
                for address in known {
                    if !found.contains(address) {
                        found.push(address.clone());
                    }
                }
                return Ok(found);
            }
            To::Controller => {
                self.learn_nodes().await?;
                self.controller
            }
            To::Node(id) => {
                self.learn_nodes().await?;
                Some(id)
            }
        };
        match id.and_then(|id| self.nodes.get(&id)) {
            Some(node) => Ok(vec![node.address.clone()]),
            None => {
                self.nodes.clear();
                let whom = match to {
                    To::Anyone | To::Controller => "the cluster has no controller now".to_owned(),
                    To::Node(id) => format!("the cluster has no live broker {id}"),
                };
                Err(Attempt::Failed(whom))
            }
        }
    }

    async fn learn_nodes(&mut self) -> Result<(), Attempt> {
        if !self.nodes.is_empty() {
            return Ok(());
        }
        let (nodes, controller) = if self.is_controllers {
            let request = DescribeClusterRequest::default().with_endpoint_type(2);
            let answer = Box::pin(self.ask_once(To::Anyone, (&request, 0))).await?;
            Refused::check(answer.error_code, answer.error_message.as_deref())
                .map_err(Attempt::Refused)?;
            let nodes = answer
                .brokers
                .into_iter()
                .filter_map(|it| node(it.broker_id.0, &it.host, it.port, it.rack, it.is_fenced));
            (nodes.collect::<Vec<_>>(), answer.controller_id.0)
        } else {
            let request = MetadataRequest::default()
                .with_topics(Some(Vec::new()))
                .with_allow_auto_topic_creation(true);
            let answer = Box::pin(self.ask_once(To::Anyone, (&request, 0))).await?;
            let nodes = answer
                .brokers
                .into_iter()
                .filter_map(|it| node(it.node_id.0, &it.host, it.port, it.rack, false));
            (nodes.collect(), answer.controller_id.0)
        };
        self.nodes = nodes.into_iter().map(|node| (node.id, node)).collect();
        self.controller = Some(controller);
        Ok(())
    }

    async fn ask_at<R: Request>(
        &mut self,
        address: &Address,
        (request, least): (&R, i16),
    ) -> Result<R::Response, Trouble> {
        let limit = self.request_timeout;
        let late = || Trouble::Gone(ErrorKind::TimedOut.into());
        let connection = match self.connections.entry(address.clone()) {
            std::collections::btree_map::Entry::Occupied(it) => it.into_mut(),
            std::collections::btree_map::Entry::Vacant(it) => {
                let open = Connection::open(&*self.env.net, address, &self.client_id);
                it.insert(timeout(limit, open).await.map_err(|_| late())??)
            }
        };
        timeout(limit, connection.ask(request, least)).await.map_err(|_| late())?
    }

    /// The address where a controller answers in the place of a broker, if no broker does.
    #[must_use]
    pub fn mistaken_controller(&self) -> Option<&Address> {
        let serves = |it: &Connection| {
            let mut keys = it.announced.api_keys.iter();
            keys.any(|served| served.api_key == ApiKey::Metadata.code())
        };
        let is_mistaken = !self.is_controllers && !self.connections.values().any(serves);
        self.connections.keys().next().filter(|_| is_mistaken)
    }

    /// Whether it talks to controllers.
    #[must_use]
    pub fn is_controllers(&self) -> bool {
        self.is_controllers
    }

    /// The brokers of the cluster; behind `--bootstrap-controller`, the controllers, as with Kafka's
    /// tools.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn nodes(&mut self) -> Result<Vec<Node>, Refused> {
        // Any answer will do: asking is what learns them.
        let request = MetadataRequest::default().with_topics(Some(Vec::new()));
        if self.nodes.is_empty() {
            let controllers = DescribeClusterRequest::default().with_endpoint_type(2);
            if self.is_controllers {
                self.ask(To::Anyone, &controllers).await?;
            } else {
                self.ask(To::Anyone, &request).await?;
            }
            self.learn_nodes().await.map_err(|attempt| match attempt {
                Attempt::Refused(refused) => refused,
                Attempt::Failed(why) => Refused::of(ErrorCode::NetworkException, why),
            })?;
        }
        Ok(self.nodes.values().cloned().collect())
    }

    /// A connection to one node, for what is only to be known of that one.
    ///
    /// # Errors
    /// It cannot be reached now: this does not try again.
    pub async fn connect(&self, address: &Address) -> Result<Connection, Refused> {
        let open = Connection::open(&*self.env.net, address, &self.client_id);
        match timeout(self.request_timeout, open).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(Trouble::Refused(refused))) => Err(refused),
            Ok(Err(Trouble::Gone(error))) => {
                Err(Refused::of(ErrorCode::NetworkException, format!("{address}: {error}")))
            }
            Err(_) => Err(Refused::of(ErrorCode::RequestTimedOut, format!("{address}: no answer"))),
        }
    }

    /// The coordinator of a group.
    ///
    /// # Errors
    /// As [`Client::ask`], or the cluster names none in time.
    pub async fn coordinator(&mut self, group: &str) -> Result<To, Refused> {
        let group = StrBytes::from_string(group.to_owned());
        let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![group.clone()]);
        let judge = |answer: &<FindCoordinatorRequest as Request>::Response| match answer
            .coordinators
            .first()
        {
            Some(it) => Refused::check(it.error_code, it.error_message.as_deref()),
            None => Refused::check(answer.error_code, answer.error_message.as_deref()),
        };
        let answer = match self.ask_until(To::Anyone, &request, judge).await {
            // Before version 4 there is one key.
            Err(refused) if refused.code == ErrorCode::UnsupportedVersion => {
                let old = FindCoordinatorRequest::default().with_key(group);
                self.ask_until(To::Anyone, &old, judge).await?
            }
            answer => answer?,
        };
        let id = answer.coordinators.first().map_or(answer.node_id.0, |it| it.node_id.0);
        if !self.nodes.contains_key(&id) {
            self.nodes.clear();
        }
        Ok(To::Node(id))
    }
}

fn node(id: i32, host: &str, port: i32, rack: Option<StrBytes>, is_fenced: bool) -> Option<Node> {
    let address = Address { host: host.to_owned(), port: u16::try_from(port).ok()? };
    Some(Node { id, address, rack: rack.map(|rack| rack.to_string()), is_fenced })
}

/// One round of questions that came to nothing.
enum Attempt {
    Refused(Refused),
    Failed(String),
}
