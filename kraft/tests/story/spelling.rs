//! How a record is told in a line: what it says beyond its defaults, ids by their names.

use kraft::image::Image;
use kraft::record::{NO_LEADER_CHANGE, Record};
use protocol::ids::Uuid;

/// Directories of a story are `d1`, `d2`, ...
pub(super) fn directory(name: &str) -> Uuid {
    let number: u128 = name.strip_prefix('d').unwrap().parse().unwrap();
    Uuid((1000 + number).to_be_bytes())
}

fn directory_name(id: Uuid) -> String {
    match u128::from_be_bytes(id.0) {
        0 => "unassigned".to_owned(),
        number => format!("d{}", number - 1000),
    }
}

fn directory_names(ids: &[Uuid]) -> String {
    let names: Vec<_> = ids.iter().map(|id| directory_name(*id)).collect();
    format!("[{}]", names.join(", "))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what no story has is told in full")]
pub(super) fn spell(record: &Record, before: &Image, after: &Image) -> String {
    let topic = |id: Uuid| {
        let name = before.topic_name(id).or(after.topic_name(id));
        name.map_or_else(|| id.to_string(), ToString::to_string)
    };
    let mut says: Vec<String> = Vec::new();
    match record {
        Record::RegisterBroker(it) => {
            says.push(format!("{} epoch {}", it.broker_id, it.broker_epoch));
            says.push(format!("process {}", u128::from_be_bytes(it.incarnation_id.0)));
            says.push(format!("dirs {}", directory_names(&it.log_dirs)));
            says.extend(it.rack.as_ref().map(|rack| format!("rack {rack}")));
            says.extend(it.fenced.then(|| "fenced".to_owned()));
        }
        Record::BrokerRegistrationChange(it) => {
            says.push(format!("{} epoch {}", it.broker_id, it.broker_epoch));
            let word = |change: i8, set: &str, clear: &str| match change {
                0 => None,
                1 => Some(set.to_owned()),
                _ => Some(clear.to_owned()),
            };
            says.extend(word(it.fenced, "fenced", "unfenced"));
            says.extend(word(it.in_controlled_shutdown, "stopping", "not stopping"));
            says.extend((!it.log_dirs.is_empty()).then(|| directory_names(&it.log_dirs)));
        }
        Record::Topic(it) => says.push(it.name.clone()),
        Record::RemoveTopic(it) => says.push(topic(it.topic_id)),
        Record::Partition(it) => {
            says.push(format!("{}-{}", topic(it.topic_id), it.partition_id));
            says.push(format!("replicas {:?}", it.replicas));
            says.push(format!("isr {:?}", it.isr));
            says.push(format!("leader {}", it.leader));
            says.push(format!("dirs {}", directory_names(&it.directories)));
        }
        Record::PartitionChange(it) => {
            says.push(format!("{}-{}", topic(it.topic_id), it.partition_id));
            let list = |name: &str, list: &Option<Vec<i32>>| {
                list.as_ref().map(|list| format!("{name} {list:?}"))
            };
            says.extend(list("isr", &it.isr));
            says.extend((it.leader != NO_LEADER_CHANGE).then(|| format!("leader {}", it.leader)));
            says.extend(list("eligible", &it.eligible_leader_replicas));
            says.extend(list("last known", &it.last_known_elr));
            let state = it.leader_recovery_state;
            says.extend((state != -1).then(|| format!("recovery state {state}")));
        }
        Record::Config(it) => {
            let resource = format!("{} {:?}", it.resource_type, it.resource_name);
            says.push(format!("of {resource}: {}", it.name));
            says.push(
                it.value.clone().map_or_else(|| "gone".to_owned(), |value| format!("= {value}")),
            );
        }
        Record::FeatureLevel(it) => says.push(format!("{} {}", it.name, it.feature_level)),
        Record::ProducerIds(it) => says.push(format!("next {}", it.next_producer_id)),
        Record::ClearElr(it) => says.push(it.topic_name.clone()),
        Record::BeginTransaction(it) => says.extend(it.name.clone()),
        Record::EndTransaction(_) => {}
        other => says.push(format!("{other:?}")),
    }
    let kind = record.kind().trim_end_matches("Record");
    format!("{kind} {}", says.join(", ")).trim_end().to_owned()
}
