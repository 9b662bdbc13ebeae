//! DescribeAcls, CreateAcls, DeleteAcls, where there is no authorizer.

use super::Pair;
use super::admin::name;
use protocol::messages::create_acls_request::AclCreation;
use protocol::messages::delete_acls_request::DeleteAclsFilter;
use protocol::messages::{CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest};

/// Everything that there might be.
const ANY: i8 = 1;

pub(super) fn refused(pair: &mut Pair) {
    pair.each("ACLs: all", 1..=3, |_, _| described(ANY));
    pair.each("ACLs: of an unknown kind", 1..=3, |_, _| described(0));
    pair.each("ACLs: none to create", 1..=3, |_, _| CreateAclsRequest::default());
    pair.each("ACLs: two to create", 1..=3, |_, _| {
        CreateAclsRequest::default().with_creations(vec![creation(2), creation(2)])
    });
    pair.each("ACLs: one of an unknown kind", 1..=3, |_, _| {
        CreateAclsRequest::default().with_creations(vec![creation(2), creation(0)])
    });
    pair.each("ACLs: none to delete", 1..=3, |_, _| DeleteAclsRequest::default());
    pair.each("ACLs: two to delete", 1..=3, |_, _| {
        DeleteAclsRequest::default().with_filters(vec![filter(ANY), filter(2)])
    });
    pair.each("ACLs: to delete of an unknown kind", 1..=3, |_, _| {
        DeleteAclsRequest::default().with_filters(vec![filter(ANY), filter(0)])
    });
}

fn described(kind: i8) -> DescribeAclsRequest {
    DescribeAclsRequest::default()
        .with_resource_type_filter(kind)
        .with_resource_name_filter(None)
        .with_pattern_type_filter(ANY)
        .with_operation(ANY)
        .with_permission_type(ANY)
}

/// A reads a topic: literal, read, allowed in Apache Kafka's numbers.
fn creation(kind: i8) -> AclCreation {
    AclCreation::default()
        .with_resource_type(kind)
        .with_resource_name(name("data"))
        .with_resource_pattern_type(3)
        .with_principal(name("User:a"))
        .with_host(name("*"))
        .with_operation(3)
        .with_permission_type(3)
}

fn filter(kind: i8) -> DeleteAclsFilter {
    DeleteAclsFilter::default()
        .with_resource_type_filter(kind)
        .with_resource_name_filter(None)
        .with_pattern_type_filter(ANY)
        .with_operation(ANY)
        .with_permission_type(ANY)
}
