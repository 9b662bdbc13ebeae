//! ListConfigResources: what configs may be kept for, by kind.

use super::served::{Served, text};
use protocol::error::ErrorCode;
use protocol::messages::incremental_alter_configs_request as incremental;
use protocol::messages::{IncrementalAlterConfigsRequest, ListConfigResourcesRequest};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

#[tokio::test]
async fn topics_and_brokers_are_listed_and_groups_that_have_configs() {
    let broker = Served::start().await;
    broker.create("events", 1).await;
    let edit = incremental::AlterableConfig::default()
        .with_name(text("consumer.session.timeout.ms"))
        .with_value(Some(text("50000")));
    let group = incremental::AlterConfigsResource::default()
        .with_resource_type(GROUP)
        .with_resource_name(text("readers"))
        .with_configs(vec![edit]);
    let altered = IncrementalAlterConfigsRequest::default().with_resources(vec![group]);
    assert_eq!(broker.ask(&altered, 1).await.responses[0].error_code, 0);

    let list = async |kinds: &[i8], version| {
        let request = ListConfigResourcesRequest::default().with_resource_types(kinds.to_vec());
        let answer = broker.ask(&request, version).await;
        let listed = answer.config_resources.iter();
        let listed = listed.map(|it| (it.resource_type, it.resource_name.to_string()));
        (ErrorCode::from_code(answer.error_code).unwrap(), listed.collect::<Vec<_>>())
    };
    let named = |all: &[(i8, &str)]| {
        let all = all.iter().map(|(kind, name)| (*kind, (*name).to_owned()));
        (ErrorCode::None, all.collect::<Vec<_>>())
    };
    assert_eq!(
        list(&[], 1).await,
        named(&[(GROUP, "readers"), (LOGGER, "1"), (BROKER, "1"), (TOPIC, "events")])
    );
    assert_eq!(list(&[TOPIC, TOPIC], 1).await, named(&[(TOPIC, "events")]));
    assert_eq!(list(&[GROUP], 1).await, named(&[(GROUP, "readers")]));
    assert_eq!(list(&[CLIENT_METRICS], 1).await, named(&[]));
    assert_eq!(list(&[], 0).await, named(&[]));
    assert_eq!(list(&[TOPIC, 3], 1).await, (ErrorCode::UnsupportedVersion, Vec::new()));
    broker.stop().await;
}
