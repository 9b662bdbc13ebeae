//! What each node serves, as Kafka's tools print it.

use crate::client::{Client, Node};
use crate::failure::Failure;
use crate::output::Output;
use protocol::messages::api_versions_response::ApiVersion;
use protocol::messages::{ApiKey, Versions};

/// What only controllers and brokers ask of each other: told of only where it is served.
const AMONG_NODES: [ApiKey; 12] = [
    ApiKey::Vote,
    ApiKey::BeginQuorumEpoch,
    ApiKey::EndQuorumEpoch,
    ApiKey::AlterPartition,
    ApiKey::Envelope,
    ApiKey::FetchSnapshot,
    ApiKey::BrokerRegistration,
    ApiKey::BrokerHeartbeat,
    ApiKey::AllocateProducerIds,
    ApiKey::ControllerRegistration,
    ApiKey::AssignReplicasToDirs,
    ApiKey::UpdateRaftVoter,
];

/// What Apache Kafka 4.4 has and the codec lacks.
const UNSPOKEN: [(i16, &str); 4] = [
    (88, "StreamsGroupHeartbeat"),
    (89, "StreamsGroupDescribe"),
    (93, "StreamsGroupTopologyDescriptionUpdate"),
    (94, "UnregisterController"),
];

/// Prints a block for every node.
pub(crate) async fn print(client: &mut Client, output: &mut Output) -> Result<(), Failure> {
    for node in client.nodes().await? {
        match client.connect(&node.address).await {
            Ok(connection) => {
                let served = &connection.announced.api_keys;
                output.line(format!("{} -> (\n{}\n)", title(&node), rows(served).join(",\n")))?;
            }
            Err(refused) => output.line(format!("{} -> ERROR: {refused}", title(&node)))?,
        }
    }
    Ok(())
}

fn title(node: &Node) -> String {
    let rack = node.rack.as_deref().unwrap_or("null");
    let (address, id) = (&node.address, node.id);
    format!(
        "{}:{} (id: {id} rack: {rack} isFenced: {})",
        address.host, address.port, node.is_fenced
    )
}

fn rows(served: &[ApiVersion]) -> Vec<String> {
    let known = ApiKey::ALL.iter().filter(|key| !AMONG_NODES.contains(key));
    let mut codes: Vec<i16> = known.map(|key| key.code()).collect();
    codes.extend(UNSPOKEN.map(|(code, _)| code));
    codes.extend(served.iter().map(|it| it.api_key));
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(|code| row(code, served.iter().find(|it| it.api_key == code))).collect()
}

fn row(code: i16, served: Option<&ApiVersion>) -> String {
    let key = ApiKey::from_code(code);
    let unspoken = UNSPOKEN.iter().find(|(it, _)| *it == code).map(|(_, name)| *name);
    let name = key.map(ApiKey::name).or(unspoken);
    let title = format!("\t{}({code}): ", name.unwrap_or("UNKNOWN"));
    let Some(served) = served else { return title + "UNSUPPORTED" };
    let (min, max) = (served.min_version, served.max_version);
    let range = if min == max { min.to_string() } else { format!("{min} to {max}") };
    let usable = match key.map(ApiKey::codec) {
        None => String::new(),
        Some(Versions { max: ours, .. }) if ours < min => " [unusable: node too new]".to_owned(),
        Some(Versions { min: ours, .. }) if max < ours => " [unusable: node too old]".to_owned(),
        Some(Versions { max: ours, .. }) => format!(" [usable: {}]", ours.min(max)),
    };
    title + &range + &usable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_both_sides_can_use() {
        let served = |code, min, max| {
            ApiVersion::default().with_api_key(code).with_min_version(min).with_max_version(max)
        };
        let row = |code, min, max| row(code, Some(&served(code, min, max)));
        assert_eq!(row(0, 0, 13), "\tProduce(0): 0 to 13 [usable: 13]");
        assert_eq!(row(47, 0, 0), "\tOffsetDelete(47): 0 [usable: 0]");
        assert_eq!(row(1, 90, 99), "\tFetch(1): 90 to 99 [unusable: node too new]");
        assert_eq!(row(19, 0, 1), "\tCreateTopics(19): 0 to 1 [unusable: node too old]");
        assert_eq!(row(999, 0, 1), "\tUNKNOWN(999): 0 to 1");
        assert_eq!(super::row(17, None), "\tSaslHandshake(17): UNSUPPORTED");
        assert_eq!(rows(&[served(52, 0, 1)]).len(), rows(&[]).len() + 1);
    }
}
