//! `highwater group`.

use super::shown::{Form, Rows};
use crate::admin::groups::{self, Filter};
use crate::client::Client;
use crate::failure::Failure;
use crate::output::Output;
use clap::Subcommand;
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Group {
    /// List the groups.
    #[command(visible_alias = "ls")]
    List,
}

impl Group {
    pub(super) async fn run(
        &self,
        client: &mut Client,
        form: Form,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let Group::List = self;
        let listed = groups::list(client, &Filter::default()).await?;
        let mut rows = Rows::new(&["group", "type", "state", "protocol"]);
        for it in listed {
            rows.push(vec![json!(it.id), json!(it.kind), json!(it.state), json!(it.protocol)]);
        }
        rows.print(form, output)
    }
}
