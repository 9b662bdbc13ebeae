//! `/metrics`: what Prometheus reads, under the names that dashboards for Apache Kafka ask for.
//!
//! Those are the names that the examples of Prometheus' JMX exporter make of Kafka's MBeans, which
//! Strimzi has too, and those of kafka_exporter, whose sidecar is not needed then. A family is a
//! line of a table: its name, its type, its labels, the MBean it stands for, and how it is read. The
//! page is made family by family, as the client takes it.

mod broker;
mod cluster;
mod exporter;
mod family;
mod groups;
mod lags;
mod logs;
mod process;
mod reference;
mod requests;
mod samples;
mod scene;
mod spot;
mod traffic;

use super::body::{Body, typed};
use super::desk::Desk;
use bytes::Bytes;
use family::{Family, Read};
use hyper::{Response, StatusCode};
use samples::Samples;
use scene::Scene;
use std::sync::Arc;

const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// In the order of the page.
const FAMILIES: [&[Family]; 8] = [
    broker::FAMILIES,
    traffic::FAMILIES,
    requests::FAMILIES,
    logs::FAMILIES,
    cluster::FAMILIES,
    groups::FAMILIES,
    exporter::FAMILIES,
    process::FAMILIES,
];

/// The page of the moment.
pub(super) async fn page(desk: &Arc<Desk>) -> Response<Body> {
    let scene = Scene::of(desk).await;
    let families = FAMILIES.into_iter().flatten();
    let spelt = families.flat_map(|family| family.names().map(move |name| (family, name)));
    let parts = spelt.filter_map(move |(family, name)| part(family.begin(name), family, &scene));
    typed(StatusCode::OK, TEXT_FORMAT, Body::Parts(Box::new(parts)))
}

/// A family's samples; None where there are none now.
fn part(mut samples: Samples, family: &Family, scene: &Scene) -> Option<Bytes> {
    match (family.read, &scene.broker) {
        (Read::Process(read), _) => read(scene, &mut samples),
        (Read::Broker(read), Some(broker)) => read(broker, &mut samples),
        (Read::Broker(_), None) => {}
    }
    samples.end().map(Bytes::from)
}
