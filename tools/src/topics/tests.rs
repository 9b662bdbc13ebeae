//! Which arguments `kafka-topics` takes.

use super::*;

fn checked(args: &[&str]) -> Result<(), Failure> {
    let args = args.iter().map(OsString::from).collect();
    COMMAND.parse(args).and_then(|args| check(&args))
}

#[test]
fn flags_that_go_together_are_taken() {
    for args in [
        ["--list"].as_slice(),
        &["--list", "--exclude-internal", "--topic", "a.*"],
        &["--describe"],
        &["--describe", "--unavailable-partitions"],
        &["--create", "--topic", "a", "--partitions", "3", "--replication-factor", "1"],
        &["--create", "--topic", "a", "--replica-assignment", "1,1"],
        &["--alter", "--topic", "a", "--partitions", "3"],
        &["--delete", "--topic", "a", "--if-exists"],
    ] {
        assert_eq!(checked(args), Ok(()), "{args:?}");
    }
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    for (args, want) in [
        ([].as_slice(), "Create, delete, describe, or change a topic."),
        (&["--list", "--describe"], "exactly one action"),
        (&["--topic", "a"], "exactly one action"),
        (&["--create"], "Missing required argument \"[topic]\""),
        (&["--alter", "--topic", "a"], "Missing required argument \"[partitions]\""),
        (&["--list", "--if-exists"], "\"[if-exists]\" can't be used with option \"[list]\""),
        (&["--list", "--partitions", "1"], "can't be used"),
        (&["--delete", "--topic", "a", "--exclude-internal"], "can't be used"),
        (&["--alter", "--topic", "a", "--partitions", "2", "--config", "a=b"], "can't be used"),
        (&["--describe", "--topics-with-overrides", "--unavailable-partitions"], "can't be used"),
        (
            &["--create", "--topic", "a", "--replica-assignment", "1", "--partitions", "1"],
            "can't be used",
        ),
        (&["--describe", "--if-exists"], "--topic or --topic-id"),
    ] {
        let Err(Failure::Usage(said)) = checked(args) else { panic!("{args:?} is taken") };
        assert!(said.contains(want), "{args:?}: {said}");
    }
}
