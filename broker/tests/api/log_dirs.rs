//! DescribeLogDirs, and log directories that fail.

use crate::broker::{Broker, batch, dir_id};
use crate::fetch::append;
use crate::produce;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse, StrBytes};
use std::path::Path;
use std::sync::Arc;
use storage::disk::sim::{Fault, Operation};

fn two_dirs() -> Broker {
    let mut broker = Broker::with_dirs(Arc::default(), &["/a", "/b"], &[]);
    broker.create_in("x", 1, &[], dir_id(0));
    broker.create_in("y", 2, &[], dir_id(1));
    broker
}

/// Directory, error, and topics with their sizes.
type Listed = (String, i16, Vec<(String, Vec<i64>)>);

fn listed(response: &DescribeLogDirsResponse) -> Vec<Listed> {
    let dirs = response.results.iter().map(|dir| {
        let topics = dir.topics.iter().map(|topic| {
            let sizes = topic.partitions.iter().map(|it| it.partition_size).collect();
            (topic.name.to_string(), sizes)
        });
        (dir.log_dir.to_string(), dir.error_code, topics.collect())
    });
    dirs.collect()
}

#[test]
fn each_directory_lists_what_lies_in_it() {
    let broker = two_dirs();
    append(&broker, "y", 1, batch(&["a"]));
    let size = i64::try_from(batch(&["a"]).len()).unwrap();
    for version in 1..=4 {
        let response =
            broker.ask_disk(&DescribeLogDirsRequest::default().with_topics(None), version);
        let want = [
            ("/a".to_owned(), 0, vec![("x".to_owned(), vec![0])]),
            ("/b".to_owned(), 0, vec![("y".to_owned(), vec![0, size])]),
        ];
        assert_eq!(listed(&response), want);
        let known = 0 < response.results[0].total_bytes && 0 < response.results[0].usable_bytes;
        assert_eq!(known, 4 <= version);
    }
    let only = DescribableLogDirTopic::default()
        .with_topic(StrBytes::from_static_str("y").into())
        .with_partitions(vec![1]);
    let request = DescribeLogDirsRequest::default().with_topics(Some(vec![only]));
    let want =
        [("/a".to_owned(), 0, vec![]), ("/b".to_owned(), 0, vec![("y".to_owned(), vec![size])])];
    assert_eq!(listed(&broker.ask_disk(&request, 4)), want);
}

#[test]
fn a_partition_that_is_older_than_directory_ids_goes_where_the_fewest_are() {
    for unsettled in [Uuid::ZERO, Uuid::MIGRATING] {
        let mut broker = Broker::with_dirs(Arc::default(), &["/a", "/b"], &[]);
        broker.create_in("x", 1, &[], dir_id(0));
        broker.create_in("y", 1, &[], unsettled);
        let response = broker.ask_disk(&DescribeLogDirsRequest::default().with_topics(None), 4);
        let want = [
            ("/a".to_owned(), 0, vec![("x".to_owned(), vec![0])]),
            ("/b".to_owned(), 0, vec![("y".to_owned(), vec![0])]),
        ];
        assert_eq!(listed(&response), want, "{unsettled}");
    }
}

#[test]
fn a_directory_that_fails_takes_only_its_own_partitions_along() {
    let broker = two_dirs();
    append(&broker, "x", 0, batch(&["a"]));
    broker.disk.break_dir(Path::new("/a"));
    let code = |topic| {
        let response = broker.ask(&produce::to(topic, 0, 1, batch(&["a"])), 9);
        response.responses[0].partition_responses[0].error_code
    };
    let maybe = ErrorCode::RequestTimedOut.code();
    assert_eq!((code("x"), code("y")), (maybe, 0), "a write that failed may be there");
    assert_eq!((code("x"), code("y")), (ErrorCode::KafkaStorageError.code(), 0));
    let response = broker.ask(&produce::to("x", 0, 1, batch(&["a"])), 9);
    let why = response.responses[0].partition_responses[0].error_message.clone().unwrap();
    assert!(why.starts_with("/a is offline: appending to x-0"), "{why}");
    let response = broker.ask_disk(&DescribeLogDirsRequest::default().with_topics(None), 4);
    let dirs: Vec<_> = response.results.iter().map(|dir| dir.error_code).collect();
    assert_eq!(dirs, [ErrorCode::KafkaStorageError.code(), 0]);
}

#[test]
fn a_partition_for_which_files_lacked_is_there_once_there_are_some() {
    let mut broker = two_dirs();
    let code = |broker: &Broker, topic| {
        let response = broker.ask(&produce::to(topic, 0, 1, batch(&["a"])), 9);
        response.responses[0].partition_responses[0].error_code
    };
    // No space; too many open files.
    for (topic, os_error) in [("z", 28), ("u", 24)] {
        broker.disk.fail(Fault { os_error, ..Fault::eio(Operation::Create) });
        broker.create_in(topic, 1, &[], dir_id(1));
        assert_eq!(code(&broker, topic), ErrorCode::KafkaStorageError.code());
        assert!(broker.reconciler.is_lacking() && broker.ctx.dirs[1].failure().is_none());
        broker.disk.mend();
        broker.reconciler.try_again();
        assert_eq!((code(&broker, topic), broker.reconciler.is_lacking()), (0, false));
        assert!(Arc::ptr_eq(&broker.partition(topic, 0).dir, &broker.ctx.dirs[1]));
    }
}

#[test]
fn what_is_deleted_before_it_could_be_opened_is_not_tried_again() {
    let mut broker = two_dirs();
    broker.disk.fail(Fault { os_error: 24, ..Fault::eio(Operation::Create) });
    let id = broker.create_in("z", 1, &[], dir_id(1));
    broker.disk.mend();
    broker.delete(id);
    broker.reconciler.try_again();
    assert!(!broker.reconciler.is_lacking() && broker.ctx.partitions.topic("z").is_none());
}

#[tokio::test]
async fn when_the_last_directory_fails_it_is_said() {
    let broker = two_dirs();
    broker.ctx.dirs[0].fail("a test");
    let failed = broker.ctx.upkeep.all_failed();
    broker.ctx.dirs[1].fail("a test");
    failed.await;
}
