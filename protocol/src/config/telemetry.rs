//! Config keys of metrics, and of Java plug-ins that watch a broker.

use super::key::Importance::Low;
use super::key::Key;
use super::key::Scope::ClusterWide;
use super::key::Valid::AtLeast;
use super::typed::inert_keys;

inert_keys! {
    /// What a Java broker reports about itself.
    TELEMETRY {
        /// Seconds between two looks of the older metrics reporters.
        i32 = "kafka.metrics.polling.interval.secs" {
            default: Some("10"), valid: AtLeast(1.0), importance: Low,
        }
        /// Java classes that report the older metrics.
        Vec<String> = "kafka.metrics.reporters" { default: Some(""), importance: Low, }
        /// Java classes that report metrics.
        Vec<String> = "metric.reporters" {
            default: Some("org.apache.kafka.common.metrics.JmxReporter"), scope: ClusterWide,
            importance: Low,
        }
        /// Samples that a rate is computed over.
        i32 = "metrics.num.samples" { default: Some("2"), valid: AtLeast(1.0), importance: Low, }
        /// How many metrics are kept: INFO, DEBUG or TRACE.
        String = "metrics.recording.level" { default: Some("INFO"), importance: Low, }
        /// Milliseconds of one such sample.
        i64 = "metrics.sample.window.ms" {
            default: Some("30000"), valid: AtLeast(1.0), importance: Low,
        }
        /// Bytes of the largest metrics report that a client may push.
        i32 = "telemetry.max.bytes" {
            default: Some("1048576"), valid: AtLeast(1.0), importance: Low,
        }
    }
}
