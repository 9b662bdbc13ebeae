//! The limits of a listener and of the process, from the configuration.

use crate::config::BrokerConfig;
use crate::net::Limits;
use indexmap::IndexMap;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use protocol::config::net::NetConfig;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;
use tracing::warn;

/// Below so many file descriptors a broker of a few hundred partitions runs out of them.
const FILES_MIN: u64 = 65_536;

/// What `config` allows the connections of a listener.
///
/// `addresses` are those of the hosts that it names, as far as they are known.
pub(super) fn of_listener(
    config: &BrokerConfig,
    name: &str,
    addresses: &BTreeMap<String, Vec<IpAddr>>,
) -> Limits {
    let (net, own) = (&config.values.net, &config.values.own);
    let of_listener = |key| config.of_listener(name, key).unwrap_or(i32::MAX);
    Limits {
        request_bytes_max: count(net.socket_request_max_bytes),
        read_ahead_bytes: count(own.read_ahead_bytes),
        read_ahead_bytes_max: count(own.read_ahead_max_bytes.max(own.read_ahead_bytes)),
        stall_max: milliseconds(own.request_stall_timeout_ms),
        idle_max: milliseconds(net.connections_max_idle_ms),
        connections_max: count(of_listener(NetConfig::max_connections())),
        connections_per_second_max: rate(of_listener(NetConfig::max_connection_creation_rate())),
        connections_per_ip_max: count(net.max_connections_per_ip),
        connections_per_ip_overrides: overrides(config, addresses),
        send_buffer_bytes: buffer(
            net.socket_send_buffer_bytes,
            NetConfig::socket_send_buffer_bytes().default,
        ),
        receive_buffer_bytes: buffer(
            net.socket_receive_buffer_bytes,
            NetConfig::socket_receive_buffer_bytes().default,
        ),
    }
}

/// `max.connections` of the whole broker, but never more than leaves files for the logs: whoever
/// opens connections and says nothing must not take those away.
pub(super) fn connections(config: &BrokerConfig) -> usize {
    let files = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
    connections_beside_logs(count(config.values.net.max_connections), files)
}

fn connections_beside_logs(most: usize, files: u64) -> usize {
    most.min(usize::try_from(files / 2).unwrap_or(usize::MAX))
}

fn count(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// `max.connection.creation.rate` of the whole broker.
pub(super) fn connections_per_second(config: &BrokerConfig) -> u32 {
    rate(config.values.net.max_connection_creation_rate)
}

/// Kafka's largest number, its default, is no limit.
fn rate(number: i32) -> u32 {
    if number == i32::MAX { u32::MAX } else { u32::try_from(number).unwrap_or(0) }
}

/// Below 0: as good as for ever.
fn milliseconds(ms: i64) -> Duration {
    u64::try_from(ms).map_or(Duration::from_hours(24 * 365), Duration::from_millis)
}

/// A size that was set. Kafka's default of 100 KiB is not asked for: it would switch off the
/// kernel's own sizing, which does better.
fn buffer(bytes: i32, default: Option<&str>) -> Option<usize> {
    let is_set = default != Some(bytes.to_string().as_str());
    usize::try_from(bytes).ok().filter(|_| is_set)
}

/// The addresses that have a limit of their own.
fn overrides(
    config: &BrokerConfig,
    addresses: &BTreeMap<String, Vec<IpAddr>>,
) -> IndexMap<IpAddr, usize> {
    let mut found = IndexMap::new();
    for (host, most) in &config.connections_by_host {
        let itself = host.parse().ok();
        let of_host = addresses.get(host).into_iter().flatten().copied();
        found.extend(itself.into_iter().chain(of_host).map(|ip| (ip.to_canonical(), count(*most))));
    }
    found
}

/// Lets this process have as many open files as its user may, and says so where that is little.
pub(super) fn raise_open_files() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
        if soft < hard {
            setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        }
        Ok(hard)
    });
    match raised {
        Ok(files) if files < FILES_MIN => warn!(
            "Only {files} files may be open at a time. Connections take up to half of them, and \
             each partition at least one: raise the limit to {FILES_MIN} (`ulimit -Hn`, or LimitNOFILE= of a systemd unit)"
        ),
        Ok(_) => {}
        Err(error) => warn!("The limit of open files cannot be read or raised: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_half_of_the_files_to_the_logs() {
        assert_eq!(connections_beside_logs(usize::MAX, 20_000), 10_000);
        assert_eq!(connections_beside_logs(300, 20_000), 300);
        assert_eq!(connections_beside_logs(300, 256), 128);
    }
}
