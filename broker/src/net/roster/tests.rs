//! Who is let in, and how they are told to go.

use super::*;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

fn limits(connections_max: usize, per_ip: usize) -> Limits {
    Limits { connections_max, connections_per_ip_max: per_ip, ..Limits::default() }
}

#[test]
fn each_limit_refuses_and_a_seat_given_up_is_free_again() {
    let (listener, other) = ("A".into(), "B".into());
    let there = IpAddr::from([10, 0, 0, 1]);
    let roster = Roster::new(4);
    let of_a = limits(2, 1);
    let first = roster.seat(&listener, HERE, &of_a).unwrap();
    assert_eq!(roster.seat(&listener, HERE, &of_a).unwrap_err(), Full::OfIp(1));
    let mapped = IpAddr::from(std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped());
    assert_eq!(roster.seat(&listener, mapped, &of_a).unwrap_err(), Full::OfIp(1));
    let _second = roster.seat(&listener, there, &of_a).unwrap();
    let refused = roster.seat(&listener, IpAddr::from([10, 0, 0, 2]), &of_a).unwrap_err();
    assert_eq!(refused, Full::Connections, "the listener is full");

    let of_b = limits(usize::MAX, usize::MAX);
    let _third = roster.seat(&other, HERE, &of_b).unwrap();
    let _fourth = roster.seat(&other, HERE, &of_b).unwrap();
    assert_eq!(roster.seat(&other, HERE, &of_b).unwrap_err(), Full::Connections, "all are");
    drop(first);
    assert!(roster.seat(&listener, HERE, &limits(2, 3)).is_ok());
    assert_eq!(roster.len(), 3);
}

#[test]
fn an_override_counts_instead_of_the_limit_of_all() {
    let mut limits = limits(10, 0);
    limits.connections_per_ip_overrides.insert(HERE, 1);
    let roster = Roster::new(10);
    let listener = "A".into();
    let _seat = roster.seat(&listener, HERE, &limits).unwrap();
    assert_eq!(roster.seat(&listener, HERE, &limits).unwrap_err(), Full::OfIp(1));
    let elsewhere = roster.seat(&listener, IpAddr::from([10, 0, 0, 1]), &limits);
    assert_eq!(elsewhere.unwrap_err(), Full::OfIp(0));
}

#[tokio::test]
async fn waits_end_when_a_seat_is_given_up_and_when_all_shall_go() {
    let (roster, listener) = (Roster::new(1), Arc::from("A"));
    let limits = limits(1, 1);
    let seat = roster.seat(&listener, HERE, &limits).unwrap();
    let limits = ArcSwap::from_pointee(limits);
    let wait = async {
        tokio::join!(roster.has_room("A", &limits), roster.emptied());
    };
    tokio::join!(biased; wait, async { drop(seat) });
    tokio::join!(biased; roster.stopped(), async { roster.stop() });
    assert!(roster.is_stopping());
}
