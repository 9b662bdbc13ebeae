//! The operating system's world, tried.

use super::{Endpoint, os};

async fn listen(host: &str, port: u16) -> std::io::Result<Box<dyn super::Listener>> {
    let at = Endpoint { host: host.into(), port, backlog: 50 };
    os::env().net.listen(&at).await
}

#[tokio::test]
async fn localhost_is_reached_over_both_families() {
    let env = os::env();
    for host in ["localhost", "", "0.0.0.0"] {
        let listener = listen(host, 0).await.unwrap();
        let port = listener.address().unwrap().port();
        for to in ["127.0.0.1", "::1", "localhost"] {
            let (client, served) = tokio::join!(env.net.connect(to, port), listener.accept());
            assert!(client.is_ok() && served.is_ok(), "{host} over {to}");
        }
    }
}

#[tokio::test]
async fn a_taken_port_is_refused() {
    let listener = listen("127.0.0.1", 0).await.unwrap();
    let port = listener.address().unwrap().port();
    for host in ["127.0.0.1", "localhost", ""] {
        let refused = listen(host, port).await.unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::AddrInUse, "{host}");
    }
}

#[tokio::test]
async fn what_is_bound_refuses_until_it_listens_and_keeps_its_port() {
    let net = os::env().net;
    let at = Endpoint { host: "localhost".into(), port: 0, backlog: 50 };
    let bound = net.bind(&at).await.unwrap();
    let port = bound.address().unwrap().port();
    let refused = net.connect("localhost", port).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    let listener = bound.listen().unwrap();
    assert_eq!(listener.address().unwrap().port(), port);
    let (client, served) = tokio::join!(net.connect("localhost", port), listener.accept());
    assert!(client.is_ok() && served.is_ok());
}

#[test]
fn random_ids_are_of_version_4() {
    let id = os::env().rng.next_uuid_bytes();
    assert_eq!((id[6] >> 4, id[8] >> 6), (4, 0b10));
    assert_ne!(id, os::env().rng.next_uuid_bytes());
}
