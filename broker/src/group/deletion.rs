//! DeleteGroups: a group that nobody is in goes, with all its offsets.

use super::offsets::store::key;
use super::state::{Decision, State};
use crate::coordinator::{Effects, Token};
use protocol::coordinator::group::GroupRecord;
use protocol::error::ErrorCode;
use protocol::messages::delete_groups_response::DeletableGroupResult;
use protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse, GroupId};

impl State {
    /// Judges as Kafka's `GroupCoordinatorShard.deleteGroups`.
    pub(super) fn delete_groups(&self, token: Token, request: &DeleteGroupsRequest) -> Decision {
        let (mut records, mut results) = (Vec::new(), Vec::new());
        for id in &request.groups_names {
            let code = match self.without(id) {
                Ok(tombstones) => {
                    records.extend(tombstones);
                    ErrorCode::None
                }
                Err(code) => code,
            };
            let result = DeletableGroupResult::default().with_group_id(id.clone());
            results.push(result.with_error_code(code.code()));
        }
        let response = DeleteGroupsResponse::default().with_results(results);
        Effects { records, replies: vec![(token, response.into())] }
    }

    /// What takes a group away.
    fn without(&self, id: &GroupId) -> Result<Vec<GroupRecord>, ErrorCode> {
        let found = self.groups.get_key_value(id.as_str());
        let (id, group) = found.ok_or(ErrorCode::GroupIdNotFound)?;
        group.may_delete()?;
        let topics = self.offsets.of_group(id).into_iter().flatten();
        let open = self.offsets.open().filter(|key| key.group == *id).cloned();
        let mut records: Vec<_> = topics
            .flat_map(|(topic, partitions)| partitions.keys().map(|at| key(id, topic, *at)))
            .chain(open)
            .map(|key| GroupRecord::Offset(key, None))
            .collect();
        records.extend(group.tombstones(id));
        Ok(records)
    }
}
