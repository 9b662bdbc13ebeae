//! A cluster's metadata in a story: commands act on it, and what they do is told in lines.

mod spelling;

use kraft::controller::{Decide, Decision, Now, State, bootstrap_records};
use kraft::env::Rng;
use kraft::image::{ConfigResource, Image};
use kraft::record::Record;
use protocol::config::describe::Settings;
use protocol::error::ErrorCode;
use protocol::messages::broker_registration_request::{Feature, Listener};
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use protocol::messages::{
    AllocateProducerIdsRequest, BrokerHeartbeatRequest, BrokerId, BrokerRegistrationRequest,
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    IncrementalAlterConfigsRequest, StrBytes, TopicName,
};
use spelling::{directory, spell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Every draw is one more than the last.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Rng for Counting {
    fn next_u64(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) struct Story {
    image: Image,
    state: State,
    rng: Counting,
    now: Duration,
}

impl Default for Story {
    fn default() -> Story {
        Story {
            image: Image::default(),
            state: State::new(1, "cluster", Settings::new()).unwrap(),
            rng: Counting::default(),
            now: Duration::from_secs(100),
        }
    }
}

/// `key=value` words of a command.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn plain(&self, at: usize) -> &'a str {
        self.0.get(at).copied().unwrap_or_else(|| panic!("a word is missing from {:?}", self.0))
    }

    fn number(&self, at: usize) -> i32 {
        self.plain(at).parse().unwrap()
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&word)
    }

    /// Words whose key has a dot: configs.
    fn configs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.0.iter().filter_map(|word| word.split_once('='));
        pairs.filter(|(key, _)| key.contains('.'))
    }
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

impl Story {
    pub(crate) fn tell(&mut self, command: &str) -> String {
        let words = Words(command.split_whitespace().collect());
        match words.plain(0) {
            "bootstrap" => {
                let records = bootstrap_records(&self.image, &self.state);
                self.state.begin_term(&self.image, self.now);
                self.append(&records)
            }
            "lead" => {
                self.state.begin_term(&self.image, self.now);
                String::new()
            }
            "wait" => self.wait(&words),
            "register" => self.register(&words),
            "heartbeat" => self.heartbeat(&words),
            "create" => self.create(&words),
            "delete" => self.delete(&words),
            "grow" => self.grow(&words),
            "set" => self.set(&words),
            "producer-ids" => self.producer_ids(&words),
            "set-levels" => self.set_levels(&words),
            other => panic!("{other} is no command of a story"),
        }
    }

    fn now(&self) -> Now<'_> {
        Now { monotonic: self.now, next_offset: self.image.offset + 1, rng: &self.rng }
    }

    fn ask<Q: Decide>(&mut self, request: Q) -> Decision<Q::Response> {
        let now = Now { monotonic: self.now, next_offset: self.image.offset + 1, rng: &self.rng };
        request.decide(&self.image, &mut self.state, &now)
    }

    fn append(&mut self, records: &[Record]) -> String {
        let mut told = String::new();
        for record in records {
            let offset = self.image.offset + 1;
            let before = self.image.clone();
            self.image.apply(record, offset).unwrap();
            told.push_str(&format!("  {offset} {}\n", spell(record, &before, &self.image)));
        }
        told
    }

    /// The answer's code, what else it says, and the records.
    fn outcome(&mut self, code: i16, says: &str, records: &[Record]) -> String {
        let code = ErrorCode::from_code(code).unwrap();
        let says = format!("{} {says}", code.name());
        format!("< {}\n{}", says.trim_end(), self.append(records))
    }

    fn wait(&mut self, words: &Words<'_>) -> String {
        self.now += Duration::from_millis(words.plain(1).parse().unwrap());
        let records = self.state.fence_expired(&self.image, self.now().monotonic);
        self.append(&records)
    }

    fn register(&mut self, words: &Words<'_>) -> String {
        let id = words.number(1);
        let feature = |name: &str, min: i16, max: i16| {
            Feature::default()
                .with_name(text(name))
                .with_min_supported_version(min)
                .with_max_supported_version(max)
        };
        let known = protocol::features::FEATURES.iter();
        let host = text(&format!("host{id}"));
        let listener =
            Listener::default().with_name(text("PLAINTEXT")).with_host(host).with_port(9092);
        let incarnation = words.get("process").unwrap().parse::<u128>().unwrap();
        let request = BrokerRegistrationRequest::default()
            .with_broker_id(BrokerId(id))
            .with_cluster_id(text(words.get("cluster").unwrap_or("cluster")))
            .with_incarnation_id(protocol::ids::Uuid(incarnation.to_be_bytes()).into())
            .with_listeners(vec![listener])
            .with_features(known.map(|it| feature(it.name, it.min, it.max)).collect())
            .with_rack(words.get("rack").map(text))
            .with_log_dirs(
                words
                    .get("dirs")
                    .into_iter()
                    .flat_map(|it| it.split(','))
                    .map(directory)
                    .map(Into::into)
                    .collect(),
            )
            .with_previous_broker_epoch(words.get("previous").map_or(-1, |it| it.parse().unwrap()));
        let decision = self.ask(request);
        let says = format!("epoch {}", decision.response.broker_epoch);
        self.outcome(decision.response.error_code, &says, &decision.records)
    }

    fn heartbeat(&mut self, words: &Words<'_>) -> String {
        let id = words.number(1);
        let epoch = self.image.broker(id).map_or(-1, |broker| broker.broker_epoch);
        let offset = words.get("offset").map_or(self.image.offset, |it| it.parse().unwrap());
        let lost = words.get("lost").into_iter().flat_map(|it| it.split(','));
        let request = BrokerHeartbeatRequest::default()
            .with_broker_id(BrokerId(id))
            .with_broker_epoch(words.get("epoch").map_or(epoch, |it| it.parse().unwrap()))
            .with_current_metadata_offset(offset)
            .with_want_fence(words.has("fence"))
            .with_want_shut_down(words.has("stop"))
            .with_offline_log_dirs(lost.map(directory).map(Into::into).collect());
        let decision = self.ask(request);
        let response = &decision.response;
        let flags = [
            ("caught up", response.is_caught_up),
            ("fenced", response.is_fenced),
            ("may stop", response.should_shut_down),
        ];
        let says: Vec<_> = flags.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag).collect();
        self.outcome(response.error_code, &says.join(", "), &decision.records)
    }

    fn create(&mut self, words: &Words<'_>) -> String {
        let config = |(name, value)| {
            CreatableTopicConfig::default().with_name(text(name)).with_value(Some(text(value)))
        };
        let assigned = words.get("on").into_iter().flat_map(|it| it.split(';')).enumerate();
        let assignment = |(number, ids): (usize, &str)| {
            CreatableReplicaAssignment::default()
                .with_partition_index(i32::try_from(number).unwrap())
                .with_broker_ids(ids.split(',').map(|id| BrokerId(id.parse().unwrap())).collect())
        };
        let topic = CreatableTopic::default()
            .with_name(TopicName(text(words.plain(1))))
            .with_num_partitions(words.get("partitions").map_or(-1, |it| it.parse().unwrap()))
            .with_replication_factor(words.get("factor").map_or(-1, |it| it.parse().unwrap()))
            .with_assignments(assigned.map(assignment).collect())
            .with_configs(words.configs().map(config).collect());
        let decision = self.ask(CreateTopicsRequest::default().with_topics(vec![topic]));
        let result = &decision.response.topics[0];
        let says = result.error_message.as_deref().unwrap_or("").to_owned();
        self.outcome(result.error_code, &says, &decision.records)
    }

    fn delete(&mut self, words: &Words<'_>) -> String {
        let names = vec![TopicName(text(words.plain(1)))];
        let decision = self.ask(DeleteTopicsRequest::default().with_topic_names(names));
        let result = &decision.response.responses[0];
        let says = result.error_message.as_deref().unwrap_or("").to_owned();
        self.outcome(result.error_code, &says, &decision.records)
    }

    fn grow(&mut self, words: &Words<'_>) -> String {
        let topic = CreatePartitionsTopic::default()
            .with_name(TopicName(text(words.plain(1))))
            .with_count(words.number(2))
            .with_assignments(None);
        let decision = self.ask(CreatePartitionsRequest::default().with_topics(vec![topic]));
        let result = &decision.response.results[0];
        let says = result.error_message.as_deref().unwrap_or("").to_owned();
        self.outcome(result.error_code, &says, &decision.records)
    }

    /// `set topic NAME key=value`, `set broker 1 key=`: without a value the key is deleted.
    fn set(&mut self, words: &Words<'_>) -> String {
        let (kind, name) = match words.plain(1) {
            "topic" => (ConfigResource::TOPIC, words.plain(2)),
            "broker" => (ConfigResource::BROKER, words.plain(2)),
            "brokers" => (ConfigResource::BROKER, ""),
            other => panic!("{other} has no configs in a story"),
        };
        let config = |(name, value): (&str, &str)| {
            AlterableConfig::default()
                .with_name(text(name))
                .with_config_operation(i8::from(value.is_empty()))
                .with_value(Some(text(value)))
        };
        let resource = AlterConfigsResource::default()
            .with_resource_type(kind)
            .with_resource_name(text(name))
            .with_configs(words.configs().map(config).collect());
        let decision =
            self.ask(IncrementalAlterConfigsRequest::default().with_resources(vec![resource]));
        let result = &decision.response.responses[0];
        let says = result.error_message.as_deref().unwrap_or("").to_owned();
        self.outcome(result.error_code, &says, &decision.records)
    }

    fn producer_ids(&mut self, words: &Words<'_>) -> String {
        let id = words.number(1);
        let epoch = self.image.broker(id).map_or(-1, |broker| broker.broker_epoch);
        let request = AllocateProducerIdsRequest::default()
            .with_broker_id(BrokerId(id))
            .with_broker_epoch(epoch);
        let decision = self.ask(request);
        let response = &decision.response;
        let says = format!("{} from {}", response.producer_id_len, response.producer_id_start.0);
        self.outcome(response.error_code, &says, &decision.records)
    }

    /// `set-levels eligible.leader.replicas.version=0`: an older cluster's features.
    fn set_levels(&mut self, words: &Words<'_>) -> String {
        let record = |(name, level): (&str, &str)| {
            Record::from(kraft::record::FeatureLevelRecord {
                name: name.to_owned(),
                feature_level: level.parse().unwrap(),
                ..Default::default()
            })
        };
        let records: Vec<_> = words.configs().map(record).collect();
        self.append(&records)
    }
}
