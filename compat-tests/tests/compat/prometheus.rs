//! The admin port's metrics, as Prometheus and its tools see them while clients are at work.

use compat_tests::broker::{Broker, free_port};
use compat_tests::http;
use compat_tests::java_tools::JavaTools;
use compat_tests::process::{Server, run, until};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

/// What promtool says of names that dashboards ask for just so.
const KNOWN: [(&str, &str); 9] = [
    ("kafka_server_delayedoperationpurgatory_purgatorysize", "'snake_case'"),
    ("kafka_server_replicafetchermanager_maxlag", "'snake_case'"),
    ("kafka_server_replicafetchermanager_minfetchrate", "'snake_case'"),
    ("kafka_server_socket_server_metrics_connection_close_rate", "'snake_case'"),
    ("kafka_server_socket_server_metrics_connection_count", "'snake_case'"),
    ("kafka_server_socket_server_metrics_connection_creation_rate", "'snake_case'"),
    ("kafka_server_socket_server_metrics_connections", "'snake_case'"),
    ("kafka_server_socket_server_metrics_connection_count", "\"_count\" suffix"),
    ("kafka_consumergroup_", "\"_sum\" suffix"),
];

/// The body at `path`, if there is one.
fn get(port: u16, path: &str) -> Option<String> {
    http::get(port, path).filter(|(status, _)| *status == 200).map(|(_, body)| body)
}

fn samples(page: &str) -> BTreeMap<&str, f64> {
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(it, of)| (it, of.parse().unwrap()))
        .collect()
}

/// Complaints of promtool that are not known.
fn complaints(page: &str) -> Vec<String> {
    let mut tool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut into = tool.stdin.take().unwrap();
    into.write_all(page.as_bytes()).unwrap();
    drop(into);
    let said = tool.wait_with_output().unwrap();
    let said = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
    let is_known =
        |line: &str| KNOWN.iter().any(|(name, why)| line.starts_with(name) && line.contains(why));
    said.lines().filter(|line| !is_known(line)).map(str::to_owned).collect()
}

fn kcat(broker: &Broker, args: &[&str]) {
    run(Command::new("kcat").args(["-b", &broker.bootstrap(), "-q"]).args(args), LIMIT).ok();
}

/// Prometheus reads the page without an error, and knows the lag then.
fn check_prometheus(dir: &Path, admin: u16) {
    let port = free_port();
    let config = dir.join("prometheus.yml");
    let text = format!(
        "global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: highwater\n  \
         static_configs: [{{targets: ['127.0.0.1:{admin}']}}]\n"
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new("prometheus");
    command
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", dir.join("prometheus").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let _prometheus = Server::start(&mut command, &dir.join("prometheus.log"));
    let target = until("a scrape", LIMIT, || {
        let page: Value = serde_json::from_str(&get(port, "/api/v1/targets")?).ok()?;
        let target = page["data"]["activeTargets"].get(0)?.clone();
        (target["health"] != "unknown").then_some(target)
    });
    assert_eq!((&target["health"], &target["lastError"]), (&"up".into(), &"".into()), "{target}");
    let lag = until("the lag", LIMIT, || {
        let query = "/api/v1/query?query=kafka_consumergroup_lag_sum";
        let page: Value = serde_json::from_str(&get(port, query)?).ok()?;
        page["data"]["result"].get(0).map(|sample| sample["value"][1].clone())
    });
    assert_eq!(lag, "60");
}

#[test]
fn prometheus_reads_what_clients_did_and_the_lag_that_the_tool_says() {
    let dir = tempfile::TempDir::new().unwrap();
    let admin = free_port();
    let more = format!("highwater.admin.listener=127.0.0.1:{admin}\nnum.partitions=2\n");
    let broker = Broker::start(dir.path(), &more);
    let before = get(admin, "/metrics").unwrap();
    let lines: String = (0..100).map(|number| format!("{number}\n")).collect();
    let file = dir.path().join("lines");
    std::fs::write(&file, lines).unwrap();
    kcat(&broker, &["-P", "-t", "t", "-p", "0", "-l", file.to_str().unwrap()]);
    let earliest = "auto.offset.reset=earliest";
    kcat(&broker, &["-X", earliest, "-c", "40", "-G", "readers", "t"]);

    let page = get(admin, "/metrics").unwrap();
    assert_eq!(complaints(&page), Vec::<String>::new());
    let (before, after) = (samples(&before), samples(&page));
    let lag = "kafka_consumergroup_lag{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}";
    assert_eq!(after[lag], 60.0);
    for name in [
        "kafka_server_brokertopicmetrics_messagesin_total",
        "kafka_server_brokertopicmetrics_bytesin_total",
        "kafka_server_brokertopicmetrics_bytesout_total",
        "kafka_server_brokertopicmetrics_totalproducerequests_total",
        "kafka_server_brokertopicmetrics_totalfetchrequests_total",
        "kafka_network_requestmetrics_totaltimems_count{request=\"Produce\"}",
        "kafka_network_requestmetrics_totaltimems_count{request=\"FetchConsumer\"}",
        "kafka_network_requestmetrics_errors_total{request=\"Produce\",error=\"NONE\"}",
        "kafka_controller_kafkacontroller_globaltopiccount",
        "kafka_server_raft_metrics_log_end_offset",
    ] {
        let was = before.get(name).copied().unwrap_or(0.0);
        assert!(was < after[name], "{name} was {was} and is {}", after[name]);
    }
    check_every_name(&page);

    let args = ["--bootstrap-server", &broker.bootstrap(), "--describe", "--group", "readers"];
    let said = JavaTools::start().run("kafka-consumer-groups", &args.map(str::to_owned));
    let row = said.out.lines().find(|line| line.starts_with("readers")).expect(&said.out);
    let columns: Vec<_> = row.split_whitespace().collect();
    assert_eq!(columns[1..6], ["t", "0", "40", "100", "60"], "{row}");
    check_prometheus(dir.path(), admin);
}

/// What `docs/metrics.md` promises is there, summaries by their counts.
fn check_every_name(page: &str) {
    let promised =
        std::fs::read_to_string(compat_tests::home::root().join("docs/metrics.md")).unwrap();
    let (promised, _) = promised.split_once("## Not there").unwrap();
    let names = promised.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut count = 0;
    for name in names {
        assert!(page.contains(&format!("# TYPE {name} ")), "{name} is promised and not there");
        count += 1;
    }
    assert!(80 < count, "{count} names");
}
