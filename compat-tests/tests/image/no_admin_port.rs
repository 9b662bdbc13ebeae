//! The health check where the admin port does not answer, or is not where it mostly is.

use crate::stage::Stage;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

const KAFKA: &str = "opt/kafka/config/server.properties";
const CONFLUENT: &str = "etc/kafka/kafka.properties";
const BITNAMI: &str = "kafka/config/server.properties";

/// Serves each connection by `answer`, and says on which port.
fn serve(answer: impl Fn(&mut TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut stream| answer(&mut stream)));
    port
}

/// An admin port that answers so.
fn admin(status: &'static str) -> u16 {
    serve(move |stream| {
        let lines = BufReader::new(&mut *stream).lines().map_while(Result::ok);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        assert_eq!(head[0], "GET /health/ready HTTP/1.1");
        drop(write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
    })
}

/// A broker that answers ApiVersions with a code.
fn broker(code: u8) -> u16 {
    serve(move |stream| {
        let mut request = [0; 14];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(request[..8], [0, 0, 0, 10, 0, 18, 0, 0]);
        let id = &request[8..12];
        drop(stream.write_all(&[&[0, 0, 0, 10], id, &[0, code], &[0, 0, 0, 0]].concat()));
    })
}

/// A port that nobody listens on.
fn nobody() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What the check says where a file holds this.
#[track_caller]
fn check(file: &str, properties: &str, want: bool) {
    let stage = Stage::new();
    stage.write(file, properties);
    let proxy = format!("http_proxy=http://127.0.0.1:{}", nobody());
    let said = stage.run(&[&proxy], &["/usr/lib/highwater/health"]);
    assert_eq!(said.status.success(), want, "{properties}: {said:?}");
    assert_eq!(said.err.is_empty(), want, "{said:?}");
}

#[test]
fn without_an_admin_port_a_client_is_answered_or_not() {
    for (port, want) in [(broker(0), true), (broker(35), false), (nobody(), false)] {
        let listeners = format!("PLAINTEXT://0.0.0.0:{port}, CONTROLLER://:{}", nobody());
        for admin in [String::new(), format!(":{}?", nobody()), format!("127.0.0.1:{}", nobody())] {
            let own = format!(
                "highwater.admin.listener={admin}\nlisteners={listeners}\n\
                 controller.listener.names=CONTROLLER\n"
            );
            check(KAFKA, &own, want);
        }
    }
    let controller = format!(
        "highwater.admin.listener=\nlisteners=A://:{}, C://:{}\ncontroller.listener.names=B, C\n",
        nobody(),
        broker(0)
    );
    check(KAFKA, &controller, false);
    check(CONFLUENT, &controller.replace("B, C", "B"), true);
}

#[test]
fn somebody_else_on_the_admin_port_says_nothing_of_the_broker() {
    let page = admin("404 Not Found");
    for (port, want) in [(broker(0), true), (nobody(), false)] {
        let own = format!("highwater.admin.listener=:{page}?\nlisteners=PLAINTEXT://:{port}\n");
        check(KAFKA, &own, want);
    }
}

#[test]
fn the_admin_port_counts_where_it_is() {
    for (status, want) in [("200 OK", true), ("503 Service Unavailable", false)] {
        for file in [KAFKA, CONFLUENT, BITNAMI] {
            let port = admin(status);
            // What is served does not make up for what is said.
            let listeners = format!("listeners=PLAINTEXT://:{}\n", broker(0));
            for at in [format!("127.0.0.1:{port}"), format!("0.0.0.0:{port} ?")] {
                check(file, &format!("highwater.admin.listener={at}\n{listeners}"), want);
            }
        }
    }
}
