//! ListGroups and DescribeGroups: which groups there are, and what a classic one is.

use super::request::Client;
use super::state::{Decision, Group, State};
use crate::coordinator::{Effects, Token};
use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::list_groups_response::ListedGroup;
use protocol::messages::{
    DescribeGroupsRequest, DescribeGroupsResponse, GroupId, ListGroupsRequest, ListGroupsResponse,
    StrBytes,
};

/// From this version of DescribeGroups on a group that is not there is called that.
const GROUP_ID_NOT_FOUND_SINCE: i16 = 6;
/// The state of a group that is not there.
const DEAD: &str = "Dead";

impl State {
    /// Those whose state and kind are asked for, however they are spelt; no filter asks for all.
    pub(super) fn list(&self, token: Token, request: &ListGroupsRequest) -> Decision {
        let asks = |filter: &[StrBytes], name: &str| {
            filter.is_empty() || filter.iter().any(|it| it.eq_ignore_ascii_case(name))
        };
        let is_asked = |group: &Group| {
            asks(&request.states_filter, group.state_name())
                && asks(&request.types_filter, group.kind())
        };
        let listed = self.groups.iter().filter(|(_, group)| is_asked(group)).map(|(id, group)| {
            ListedGroup::default()
                .with_group_id(GroupId(StrBytes::from_string(id.to_string())))
                .with_protocol_type(StrBytes::from_string(group.protocol_type().to_owned()))
                .with_group_state(StrBytes::from_static_str(group.state_name()))
                .with_group_type(StrBytes::from_static_str(group.kind()))
        });
        Effects::reply(token, ListGroupsResponse::default().with_groups(listed.collect()).into())
    }

    /// Groups of the consumer protocol are not described here, and answered as if they were not
    /// there: there is an API of their own.
    pub(super) fn describe(
        &self,
        token: Token,
        client: &Client,
        request: &DescribeGroupsRequest,
    ) -> Decision {
        let described = |id: &GroupId| match self.groups.get(id.as_str()) {
            Some(Group::Classic(group)) => group.describe().with_group_id(id.clone()),
            Some(Group::Consumer(_)) => {
                absent(client, id, format!("Group {} is not a classic group.", id.as_str()))
            }
            None => absent(client, id, format!("Group {} not found.", id.as_str())),
        };
        let groups = request.groups.iter().map(described).collect();
        Effects::reply(token, DescribeGroupsResponse::default().with_groups(groups).into())
    }
}

fn absent(client: &Client, id: &GroupId, why: String) -> DescribedGroup {
    let dead = DescribedGroup::default()
        .with_group_id(id.clone())
        .with_group_state(StrBytes::from_static_str(DEAD));
    if client.version < GROUP_ID_NOT_FOUND_SINCE {
        return dead;
    }
    dead.with_error_code(ErrorCode::GroupIdNotFound.code())
        .with_error_message(Some(StrBytes::from_string(why)))
}
