//! `highwater group`.

use super::shown::{Form, Rows, print_one};
use crate::admin::groups::{self, Filter};
use crate::client::{Client, Refused};
use crate::consumer_groups::{delete, describe_group, rows_of};
use crate::failure::Failure;
use crate::output::Output;
use clap::Subcommand;
use protocol::error::ErrorCode;
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Group {
    /// List the groups.
    #[command(visible_alias = "ls")]
    List,
    /// Tell how far a group is, and who is in it.
    #[command(visible_alias = "show")]
    Describe { name: String },
    /// Delete groups that have no members, with their offsets.
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true)]
        names: Vec<String>,
    },
}

impl Group {
    pub(super) async fn run(
        &self,
        client: &mut Client,
        form: Form,
        output: &mut Output,
    ) -> Result<(), Failure> {
        match self {
            Group::List => list(client, form, output).await,
            Group::Describe { name } => describe(client, name, form, output).await,
            Group::Delete { names } => {
                for name in names {
                    delete(client, name).await.map_err(|why| about(name, &why))?;
                    output.line(format!("deleted group {name}"))?;
                }
                Ok(())
            }
        }
    }
}

fn about(name: &str, refused: &Refused) -> Failure {
    let hint = if refused.code == ErrorCode::GroupIdNotFound {
        ". See `highwater group list`."
    } else if refused.code == ErrorCode::NonEmptyGroup {
        ". Stop its members first."
    } else {
        ""
    };
    Failure::Told(format!("group {name}: {}{hint}", refused.text.trim_end_matches('.')))
}

async fn list(client: &mut Client, form: Form, output: &mut Output) -> Result<(), Failure> {
    let listed = groups::list(client, &Filter::default()).await?;
    let mut rows = Rows::new(&["group", "type", "state", "protocol"]);
    for it in listed {
        rows.push(vec![json!(it.id), json!(it.kind), json!(it.state), json!(it.protocol)]);
    }
    rows.print(form, output)
}

async fn describe(
    client: &mut Client,
    name: &str,
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    let group = describe_group(client, name).await.map_err(|why| about(name, &why))?;
    if group.state == "Dead" {
        let gone = Refused::of(ErrorCode::GroupIdNotFound, "there is no such group".to_owned());
        return Err(about(name, &gone));
    }
    let mut offsets = Rows::new(&["topic", "partition", "committed", "end", "lag", "member"]);
    for row in rows_of(&group, client).await? {
        let committed = row.committed.map(|it| it.offset).filter(|it| 0 <= *it);
        let lag = committed.zip(row.end).map(|(committed, end)| (end - committed).max(0));
        let [member, ..] = row.consumer;
        let (topic, partition) = row.at;
        offsets.push(vec![
            json!(topic),
            json!(partition),
            json!(committed),
            json!(row.end),
            json!(lag),
            json!(Some(member).filter(|it| it != "-")),
        ]);
    }
    let mut members = Rows::new(&["member", "client", "host", "partitions"]);
    for it in &group.members {
        members.push(vec![
            json!(it.id),
            json!(it.client),
            json!(it.host),
            json!(it.assigned.len()),
        ]);
    }
    let facts = [
        ("group", json!(group.id)),
        ("state", json!(group.state)),
        ("assignor", json!(Some(&group.assignor).filter(|it| !it.is_empty()))),
    ];
    print_one(&facts, &[("offsets", offsets), ("members", members)], form, output)
}
