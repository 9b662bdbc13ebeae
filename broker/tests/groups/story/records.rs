//! How a record is told in a line.

use super::metadata;
use protocol::coordinator::group::{ClassicGroupValue, ClassicMemberValue, GroupRecord};

pub(crate) fn spell(record: &GroupRecord) -> String {
    match record {
        GroupRecord::Classic(group, None) => format!("Classic {group}: gone"),
        GroupRecord::Classic(group, Some(value)) => format!("Classic {group}: {}", classic(value)),
        other => format!("{other:?}"),
    }
}

fn classic(value: &ClassicGroupValue) -> String {
    let member = |it: &ClassicMemberValue| {
        let instance = it.group_instance_id.as_ref().map(|id| format!(" as {id}"));
        let (subscription, assignment) =
            (metadata::spell(&it.subscription), metadata::spell(&it.assignment));
        format!("{}{} {subscription} {assignment}", it.member_id, instance.unwrap_or_default())
    };
    let members: Vec<_> = value.members.iter().map(member).collect();
    format!(
        "generation {}, {:?} {}, leader {}, since {}, members [{}]",
        value.generation,
        value.protocol_type,
        value.protocol.as_deref().unwrap_or("-"),
        value.leader.as_deref().unwrap_or("-"),
        value.current_state_timestamp_ms,
        members.join("; "),
    )
}
