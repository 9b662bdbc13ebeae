//! What a client is told to connect to, where `advertised.listeners` does not say it
//! (docs/addresses.md).

use super::listener::{Endpoint, Listener};
use std::net::{IpAddr, SocketAddr};

/// A connection as the broker sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Who has connected.
    pub peer: IpAddr,
    /// The address of this machine that was connected to.
    pub local: SocketAddr,
    /// Through whom published ports reach this container; empty outside of one.
    pub gateways: &'a [IpAddr],
}

/// What the peer is told of `listener`. None: what stands in the metadata, which is also what
/// clients of other brokers are told.
pub fn told(listener: &Listener, seen: Seen<'_>) -> Option<Endpoint> {
    if !listener.is_told_by_peer {
        return None;
    }
    // A listener of both families sees IPv4 as `::ffff:10.0.0.1`.
    let [peer, local] = [seen.peer, seen.local.ip()].map(|ip| ip.to_canonical());
    let at = |host: String| Endpoint { host, port: seen.local.port() };
    // To its own address speaks this machine, or a proxy before the container (rootless Podman).
    let is_here = listener.is_everywhere() && (peer.is_loopback() || peer == local);
    if is_here || seen.gateways.iter().any(|it| it.to_canonical() == peer) {
        return Some(at("localhost".to_owned()));
    }
    // A link-local address means nothing without the peer's own name of the link.
    let is_local = matches!(local, IpAddr::V6(local) if local.is_unicast_link_local());
    (listener.is_everywhere() && !is_local).then(|| at(local.to_string()))
}

/// The same in words, for the log; `port` is the one bound.
pub fn in_words(listener: &Listener, port: u16, gateways: &[IpAddr]) -> String {
    let name = &listener.name;
    let Some(registered) = &listener.advertised else {
        return format!("{name} is told to clients: never, advertised.listeners leaves it out");
    };
    let fixed = Endpoint {
        port: if registered.port == 0 { port } else { registered.port },
        ..registered.clone()
    };
    if !listener.is_told_by_peer {
        return format!("{name} is told to clients: {fixed}");
    }
    let gateways: Vec<_> = gateways.iter().map(IpAddr::to_string).collect();
    let through = match gateways.as_slice() {
        [] => String::new(),
        some => format!(" through the container's gateway {}", some.join(", ")),
    };
    let how = match (listener.is_everywhere(), through.as_str()) {
        (false, "") => return format!("{name} is told to clients: {fixed}"),
        (false, through) => format!("localhost:{port}{through}, else {fixed}"),
        (true, "") => format!("localhost:{port} on this machine, else the address they reached"),
        (true, through) => {
            format!("localhost:{port} on this machine or{through}, else the address they reached")
        }
    };
    format!(
        "{name} is told to clients: {how}. A port published under another number, or a client \
         behind address translation, needs advertised.listeners"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(bind: &str, is_told_by_peer: bool) -> Listener {
        let bind = Endpoint::parse(bind).unwrap();
        let advertised = Some(Endpoint { host: "box".into(), port: 9092 });
        let name = "PLAINTEXT".into();
        Listener { name, bind, advertised, is_told_by_peer, is_controller: false }
    }

    /// `bind`, who connects, to which address, the gateway (or nothing), and what is told (or
    /// nothing, where that is the metadata's answer).
    #[track_caller]
    fn check(bind: &str, peer: &str, local: &str, gateway: &str, want: &str) {
        let gateways: Vec<IpAddr> =
            gateway.split_whitespace().map(|it| it.parse().unwrap()).collect();
        let seen = Seen {
            peer: peer.parse().unwrap(),
            local: local.parse().unwrap(),
            gateways: &gateways,
        };
        let got = told(&listener(bind, true), seen);
        let got = got.map(|it| it.to_string()).unwrap_or_default();
        assert_eq!(got, want, "{bind}: {peer} -> {local} (gateway {gateway})");
        assert_eq!(told(&listener(bind, false), seen), None, "advertised.listeners has said it");
    }

    #[test]
    fn who_is_on_this_machine_is_told_localhost() {
        for bind in [":9092", "0.0.0.0:9092", "[::]:9092"] {
            check(bind, "127.0.0.1", "127.0.0.1:9092", "", "localhost:9092");
            check(bind, "127.8.0.3", "127.0.0.1:9092", "", "localhost:9092");
            check(bind, "::1", "[::1]:9092", "", "localhost:9092");
            check(bind, "::ffff:127.0.0.1", "[::ffff:127.0.0.1]:9092", "", "localhost:9092");
            // Over the machine's own address.
            check(bind, "10.0.0.2", "10.0.0.2:9092", "", "localhost:9092");
            check(bind, "::ffff:10.0.0.2", "[::ffff:10.0.0.2]:9092", "", "localhost:9092");
            check(bind, "fd00::2", "[fd00::2]:9092", "", "localhost:9092");
        }
    }

    #[test]
    fn who_comes_through_the_containers_gateway_is_told_localhost() {
        check(":9092", "172.17.0.1", "172.17.0.2:9092", "172.17.0.1", "localhost:9092");
        check(
            ":9092",
            "::ffff:172.17.0.1",
            "[::ffff:172.17.0.2]:9092",
            "172.17.0.1",
            "localhost:9092",
        );
        check(":9092", "fd00::1", "[fd00::2]:9092", "172.17.0.1 fd00::1", "localhost:9092");
        check(":9092", "fe80::1", "[fe80::2]:9092", "fe80::1", "localhost:9092");
        // Also where the listener is bound to one address or name.
        check("172.17.0.2:9092", "172.17.0.1", "172.17.0.2:9092", "172.17.0.1", "localhost:9092");
        check("kafka:9092", "172.17.0.1", "172.17.0.2:9092", "172.17.0.1", "localhost:9092");
        // Outside of a container a gateway is a router, and nothing is known of it.
        check(":9092", "192.168.1.1", "192.168.1.5:9092", "", "192.168.1.5:9092");
    }

    #[test]
    fn anybody_else_is_told_the_address_that_was_reached() {
        for bind in [":9092", "0.0.0.0:9092", "[::]:9092"] {
            check(bind, "172.17.0.3", "172.17.0.2:9092", "172.17.0.1", "172.17.0.2:9092");
            check(bind, "::ffff:10.0.0.3", "[::ffff:10.0.0.2]:9092", "", "10.0.0.2:9092");
            check(bind, "fd00::3", "[fd00::2]:9092", "fd00::1", "[fd00::2]:9092");
            check(bind, "169.254.0.3", "169.254.0.2:9092", "", "169.254.0.2:9092");
        }
        // A port that was free at the start.
        check(":0", "10.0.0.3", "10.0.0.2:40123", "", "10.0.0.2:40123");
    }

    #[test]
    fn what_was_bound_by_name_or_means_nothing_to_others_is_told_as_registered() {
        check("kafka:9092", "172.17.0.3", "172.17.0.2:9092", "172.17.0.1", "");
        check("10.0.0.2:9092", "10.0.0.3", "10.0.0.2:9092", "", "");
        check("10.0.0.2:9092", "10.0.0.2", "10.0.0.2:9092", "", "");
        check("localhost:9092", "::1", "[::1]:9092", "", "");
        check("127.0.0.1:9092", "127.0.0.1", "127.0.0.1:9092", "", "");
        check(":9092", "fe80::3", "[fe80::2]:9092", "", "");
    }

    #[test]
    fn the_log_says_what_is_told() {
        let words = |bind: &str, by_peer: bool, gateway: &str| {
            let gateways: Vec<IpAddr> =
                gateway.split_whitespace().map(|it| it.parse().unwrap()).collect();
            in_words(&listener(bind, by_peer), 9092, &gateways)
        };
        let limits = ". A port published under another number, or a client behind address \
                      translation, needs advertised.listeners";
        let told = "PLAINTEXT is told to clients: ";
        assert_eq!(words(":9092", false, "10.0.0.1"), format!("{told}box:9092"));
        assert_eq!(words("box:9092", true, ""), format!("{told}box:9092"));
        assert_eq!(
            words("box:9092", true, "10.0.0.1"),
            format!(
                "{told}localhost:9092 through the container's gateway 10.0.0.1, else \
                 box:9092{limits}"
            )
        );
        assert_eq!(
            words(":9092", true, ""),
            format!("{told}localhost:9092 on this machine, else the address they reached{limits}")
        );
        assert_eq!(
            words(":9092", true, "10.0.0.1 fd00::1"),
            format!(
                "{told}localhost:9092 on this machine or through the container's gateway \
                 10.0.0.1, fd00::1, else the address they reached{limits}"
            )
        );
        let unsaid = Listener { advertised: None, ..listener(":9092", false) };
        assert_eq!(
            in_words(&unsaid, 9092, &[]),
            format!("{told}never, advertised.listeners leaves it out")
        );
    }
}
