//! Kafka's command-line tools, which talk to any broker: one folder or file a tool, and `TABLE`.

mod admin;
pub mod args;
mod broker_api_versions;
pub mod client;
mod cluster;
mod configs;
mod console_consumer;
mod console_producer;
mod consumer_groups;
mod consumer_perf;
mod coordinator_records;
mod data;
mod date_format;
mod delete_records;
pub mod doctor;
mod dump_log;
pub mod entrance;
pub mod failure;
mod features;
pub mod frame;
mod get_offsets;
mod given;
mod groups;
mod interrupt;
mod json;
mod log_dirs;
mod metadata_quorum;
pub mod output;
mod producer_perf;
pub mod properties;
pub mod run_class;
mod throttle;
mod topic_pattern;
mod topics;
pub mod verbs;
mod verifiable;

use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

/// One tool: the name it is called by, without `.sh`, and what it does with its arguments, the
/// name left out.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    /// The Java class that does the same in Apache Kafka, without its package: scripts call it by
    /// `kafka-run-class`. Empty where there is none.
    pub class: &'static str,
    pub run: fn(Vec<OsString>, &Env) -> ExitCode,
}

/// Every tool, in the order of the names.
pub const TABLE: &[Tool] = &[
    tool("kafka-broker-api-versions", "BrokerApiVersionsCommand", broker_api_versions::run),
    tool("kafka-cluster", "ClusterTool", cluster::run),
    tool("kafka-configs", "ConfigCommand", configs::run),
    tool("kafka-console-consumer", "ConsoleConsumer", console_consumer::run),
    tool("kafka-console-producer", "ConsoleProducer", console_producer::run),
    tool("kafka-consumer-groups", "ConsumerGroupCommand", consumer_groups::run),
    tool("kafka-consumer-perf-test", "ConsumerPerformance", consumer_perf::run),
    tool("kafka-delete-records", "DeleteRecordsCommand", delete_records::run),
    tool("kafka-dump-log", "DumpLogSegments", dump_log::run),
    tool("kafka-features", "FeatureCommand", features::run),
    tool("kafka-get-offsets", "GetOffsetShell", get_offsets::run),
    tool("kafka-groups", "GroupsCommand", groups::run),
    tool("kafka-log-dirs", "LogDirsCommand", log_dirs::run),
    tool("kafka-metadata-quorum", "MetadataQuorumCommand", metadata_quorum::run),
    tool("kafka-producer-perf-test", "ProducerPerformance", producer_perf::run),
    tool(run_class::RUN_CLASS, "", run_class::run),
    tool("kafka-topics", "TopicCommand", topics::run),
    tool("kafka-verifiable-consumer", "VerifiableConsumer", verifiable::run_consumer),
    tool("kafka-verifiable-producer", "VerifiableProducer", verifiable::run_producer),
];

const fn tool(
    name: &'static str,
    class: &'static str,
    run: fn(Vec<OsString>, &Env) -> ExitCode,
) -> Tool {
    Tool { name, class, run }
}

/// The tool of this name, with or without `.sh` and a path before it.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_suffix(".sh").unwrap_or(name);
    TABLE.iter().find(|tool| tool.name == name)
}

/// The tool that stands for a Java class, with or without its package.
#[must_use]
pub fn find_class(class: &str) -> Option<&'static Tool> {
    let class = class.rsplit('.').next().unwrap_or(class);
    TABLE.iter().find(|tool| !class.is_empty() && tool.class == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_stand_once_in_the_order_of_their_names() {
        assert!(TABLE.is_sorted_by(|low, high| low.name < high.name));
    }

    #[test]
    fn a_tool_is_found_however_it_is_called() {
        for name in ["kafka-run-class", "kafka-run-class.sh", "/opt/kafka/bin/kafka-run-class.sh"] {
            assert_eq!(find(name).map(|tool| tool.name), Some("kafka-run-class"), "{name}");
        }
        for name in ["highwater", "start", "", ".sh", "kafka-run-class.bat"] {
            assert!(find(name).is_none(), "{name}");
        }
        assert!(find_class("").is_none());
    }
}
