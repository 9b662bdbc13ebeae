//! DescribeAcls, CreateAcls, DeleteAcls: there is no authorizer, on either kind of listener.

use super::served::{Served, text};
use broker::api::Close;
use protocol::error::ErrorCode;
use protocol::messages::create_acls_request::AclCreation;
use protocol::messages::delete_acls_request::DeleteAclsFilter;
use protocol::messages::{
    ApiVersionsRequest, CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest,
};

/// A topic, by its name, read, allowed: Apache Kafka's numbers.
const KINDS: [i8; 4] = [2, 3, 3, 3];

fn describe([resource, pattern, operation, permission]: [i8; 4]) -> DescribeAclsRequest {
    DescribeAclsRequest::default()
        .with_resource_type_filter(resource)
        .with_pattern_type_filter(pattern)
        .with_operation(operation)
        .with_permission_type(permission)
}

fn create([resource, pattern, operation, permission]: [i8; 4]) -> CreateAclsRequest {
    let one = AclCreation::default()
        .with_resource_type(resource)
        .with_resource_name(text("events"))
        .with_resource_pattern_type(pattern)
        .with_principal(text("User:alice"))
        .with_host(text("*"))
        .with_operation(operation)
        .with_permission_type(permission);
    CreateAclsRequest::default().with_creations(vec![one.clone(), one])
}

fn delete([resource, pattern, operation, permission]: [i8; 4]) -> DeleteAclsRequest {
    let one = DeleteAclsFilter::default()
        .with_resource_type_filter(resource)
        .with_resource_name_filter(None)
        .with_pattern_type_filter(pattern)
        .with_operation(operation)
        .with_permission_type(permission);
    DeleteAclsRequest::default().with_filters(vec![one.clone(), one])
}

#[tokio::test]
async fn each_is_told_that_security_is_disabled() {
    let broker = Served::start().await;
    for at in ["INSIDE", "CONTROLLER"] {
        let listed = broker.ask_at(at, &ApiVersionsRequest::default(), 0).await.unwrap();
        let acls = listed.api_keys.iter().filter(|it| (29..=31).contains(&it.api_key));
        let acls: Vec<_> = acls.map(|it| (it.api_key, it.min_version, it.max_version)).collect();
        assert_eq!(acls, [(29, 1, 3), (30, 1, 3), (31, 1, 3)], "{at}");
        for version in 1..=3 {
            let said = broker.ask_at(at, &describe(KINDS), version).await.unwrap();
            assert_eq!((said.error_code, said.resources.len()), (54, 0), "{at} {version}");
            assert!(said.error_message.is_some());
            let said = broker.ask_at(at, &create(KINDS), version).await.unwrap();
            let codes: Vec<_> = said.results.iter().map(|it| it.error_code).collect();
            assert_eq!(codes, [54, 54], "{at} {version}");
            let said = broker.ask_at(at, &delete(KINDS), version).await.unwrap();
            let results = said.filter_results.iter();
            let said: Vec<_> = results.map(|it| (it.error_code, it.matching_acls.len())).collect();
            assert_eq!(said, [(54, 0), (54, 0)], "{at} {version}");
        }
    }
    broker.stop().await;
}

#[tokio::test]
async fn what_names_an_unknown_kind_closes_the_connection() {
    let broker = Served::start().await;
    let closed = Some(Close(ErrorCode::InvalidRequest));
    for at in 0..KINDS.len() {
        let mut kinds = KINDS;
        kinds[at] = 0;
        assert_eq!(broker.ask_at("INSIDE", &describe(kinds), 3).await.err(), closed, "{at}");
        assert_eq!(broker.ask_at("INSIDE", &create(kinds), 3).await.err(), closed, "{at}");
        assert_eq!(broker.ask_at("INSIDE", &delete(kinds), 3).await.err(), closed, "{at}");
    }
    broker.stop().await;
}
