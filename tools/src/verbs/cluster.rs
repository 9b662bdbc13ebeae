//! `highwater cluster`.

use super::shown::{Form, Rows, print_one};
use crate::client::{Client, Refused, To};
use crate::failure::Failure;
use crate::output::Output;
use clap::Subcommand;
use protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Cluster {
    /// Tell which cluster answers, and its brokers.
    #[command(visible_alias = "show")]
    Describe,
}

impl Cluster {
    pub(super) async fn run(
        &self,
        client: &mut Client,
        form: Form,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let Cluster::Describe = self;
        let request = DescribeClusterRequest::default().with_include_fenced_brokers(true);
        let judge = |answer: &DescribeClusterResponse| {
            Refused::check(answer.error_code, answer.error_message.as_deref())
        };
        let mut answer = client.ask_until(To::Anyone, &request, judge).await?;
        answer.brokers.sort_by_key(|broker| broker.broker_id.0);
        let mut brokers = Rows::new(&["broker", "address", "rack", "controller", "fenced"]);
        for broker in &answer.brokers {
            let (id, rack) = (broker.broker_id, broker.rack.as_ref().map(|rack| rack.to_string()));
            brokers.push(vec![
                json!(id.0),
                json!(format!("{}:{}", broker.host, broker.port)),
                json!(rack),
                json!(id == answer.controller_id),
                json!(broker.is_fenced),
            ]);
        }
        let facts = [("clusterId", json!(answer.cluster_id.to_string()))];
        print_one(&facts, &[("brokers", brokers)], form, output)
    }
}
