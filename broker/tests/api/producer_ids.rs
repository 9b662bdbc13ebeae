//! InitProducerId: ids that nobody else has.

use crate::broker::Broker;
use protocol::error::ErrorCode;
use protocol::messages::{InitProducerIdRequest, StrBytes};

#[tokio::test]
async fn every_producer_gets_an_id_of_its_own() {
    let broker = Broker::new();
    let mut ids = Vec::new();
    for version in 0..=5 {
        let request = InitProducerIdRequest::default().with_transactional_id(None);
        let said = broker.wait(&request, version).await;
        assert_eq!((said.error_code, said.producer_epoch), (0, 0));
        ids.push(said.producer_id.0);
    }
    assert_eq!(ids, [1000, 1001, 1002, 1003, 1004, 1005]);
}

#[test]
fn without_a_transaction_coordinator_no_transactional_id_is_served() {
    let broker = Broker::new();
    for (id, code) in [("", ErrorCode::InvalidRequest), ("t", ErrorCode::CoordinatorNotAvailable)] {
        let id = StrBytes::from_static_str(id).into();
        let request = InitProducerIdRequest::default().with_transactional_id(Some(id));
        let said = broker.ask(&request, 4);
        assert_eq!((said.error_code, said.producer_id.0), (code.code(), -1));
    }
}

#[test]
fn an_id_without_its_epoch_is_refused() {
    let broker = Broker::new();
    let request = InitProducerIdRequest::default()
        .with_transactional_id(None)
        .with_producer_id(5.into())
        .with_producer_epoch(-1);
    assert_eq!(broker.ask(&request, 4).error_code, ErrorCode::InvalidRequest.code());
}
