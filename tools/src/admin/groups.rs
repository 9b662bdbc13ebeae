//! Groups of all kinds, listed.

use super::text;
use crate::client::{Client, Refused, To};
use protocol::error::ErrorCode;
use protocol::messages::{ListGroupsRequest, ListGroupsResponse};
use std::collections::BTreeMap;

/// A group as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) id: String,
    /// `consumer` for groups of consumers, empty for a group that only has offsets.
    pub(crate) protocol: String,
    /// As the broker spells it; empty where it is too old to say.
    pub(crate) state: String,
    pub(crate) kind: String,
}

/// Which of them; empty lists mean all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) states: Vec<String>,
    pub(crate) kinds: Vec<String>,
}

/// The groups of every broker, in the order of their ids.
pub(crate) async fn list(client: &mut Client, filter: &Filter) -> Result<Vec<Listed>, Refused> {
    let texts = |texts: &[String]| texts.iter().map(|it| text(it)).collect::<Vec<_>>();
    let request = ListGroupsRequest::default()
        .with_states_filter(texts(&filter.states))
        .with_types_filter(texts(&filter.kinds));
    let judge = |answer: &ListGroupsResponse| Refused::check(answer.error_code, None);
    let mut found = BTreeMap::new();
    for node in client.nodes().await? {
        let to = To::Node(node.id);
        let answer = match client.ask_until(to, &request, judge).await {
            // Before version 5 nobody says which kind, and all are classic.
            Err(refused)
                if refused.code == ErrorCode::UnsupportedVersion
                    && filter.kinds.iter().all(|it| it.eq_ignore_ascii_case("classic")) =>
            {
                let request = request.clone().with_types_filter(Vec::new());
                client.ask_until(to, &request, judge).await?
            }
            answer => answer?,
        };
        for group in answer.groups {
            let id = group.group_id.to_string();
            found.entry(id.clone()).or_insert(Listed {
                id,
                protocol: group.protocol_type.to_string(),
                state: group.group_state.to_string(),
                kind: group.group_type.to_string(),
            });
        }
    }
    Ok(found.into_values().collect())
}
