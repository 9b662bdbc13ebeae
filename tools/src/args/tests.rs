//! Arguments, read.

use super::*;

const COMMAND: Command = Command {
    name: "kafka-example",
    purpose: "Shows how flags are read.",
    flags: &[
        switch("list", "List."),
        value("topic", "topic", "A topic."),
        value("config", "name=value", "A config."),
        Flag { name: "state", takes: Takes::Perhaps("state"), help: "A state." },
        value("zookeeper", "hosts", ""),
    ],
};

fn parse(args: &[&str]) -> Result<Args, Failure> {
    COMMAND.parse(args.iter().map(OsString::from).collect())
}

#[test]
fn a_value_follows_its_flag_or_is_tied_to_it() {
    for args in [["--topic", "one"].as_slice(), &["--topic=one"], &["-topic", "one"]] {
        assert_eq!(parse(args).unwrap().one("topic"), Ok(Some("one")), "{args:?}");
    }
    // Also when it looks like a flag, or has an equals sign.
    assert_eq!(parse(&["--topic", "--list"]).unwrap().one("topic"), Ok(Some("--list")));
    let args = parse(&["--config", "a=b=c", "--config=d=e"]).unwrap();
    assert_eq!(args.all("config"), ["a=b=c", "d=e"]);
}

#[test]
fn a_value_that_may_be_left_out_is_the_next_argument_unless_that_is_a_flag() {
    let args = parse(&["--state", "--list"]).unwrap();
    assert!(args.has("state") && args.has("list"));
    assert_eq!(args.one("state"), Ok(None));
    assert_eq!(parse(&["--list", "--state", "Stable"]).unwrap().one("state"), Ok(Some("Stable")));
    assert!(parse(&["--state"]).unwrap().has("state"));
}

#[test]
fn what_is_no_flag_is_kept_apart() {
    let args = parse(&["one", "--list", "-5", "-"]).unwrap();
    assert_eq!(args.rest(), ["one", "-5", "-"]);
}

#[test]
fn wrong_arguments_are_told() {
    let wrong = [
        (["--tpoic", "x"].as_slice(), "tpoic is not a recognized option (did you mean --topic?)"),
        (&["--nothing-like-it"], "nothing-like-it is not a recognized option"),
        (&["--topic"], "Option topic requires an argument"),
        (&["--list=yes"], "--list takes no value"),
    ];
    for (args, want) in wrong {
        assert_eq!(parse(args), Err(Failure::usage(want)));
    }
    let twice = parse(&["--topic", "a", "--topic", "b"]).unwrap();
    let want = "Found multiple arguments for option topic, but you asked for only one";
    assert_eq!(twice.one("topic"), Err(Failure::usage(want)));
    let want = "Cannot parse argument 'x' of option topic";
    let text = parse(&["--topic", "x"]).unwrap();
    assert_eq!(text.number::<i32>("topic"), Err(Failure::usage(want)));
    let want = "Missing required argument \"[config]\"";
    assert_eq!(text.required("config"), Err(Failure::usage(want)));
}

#[test]
fn help_and_version_need_no_mention() {
    assert_eq!(parse(&["--list", "--help"]), Err(Failure::Help));
    assert_eq!(parse(&["--version"]), Err(Failure::Version));
    let usage = COMMAND.usage();
    assert!(usage.contains("  --topic <topic>        A topic.\n"), "{usage}");
    assert!(!usage.contains("zookeeper"), "a dead flag is not told of");
}
