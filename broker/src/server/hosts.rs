//! The addresses of hosts that the configuration names, looked up beside all else: a name server
//! may be slow, and nothing waits for it.

use kraft::env::Env;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::warn;

/// A name that has no address is looked up again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// What becomes of the names.
pub(super) trait Learns {
    /// `host` has these addresses, and no others any more.
    fn learn(&self, host: &str, addresses: Vec<IpAddr>);

    /// Each of the names was looked up once.
    fn looked_up(&self);
}

/// Looks up the names, all of them whenever they are told anew, until nobody tells them any more.
/// One at a time: each holds a thread, of which there are few.
pub(super) async fn follow(
    env: Env,
    mut names: watch::Receiver<BTreeSet<String>>,
    learns: impl Learns,
) {
    let mut missing = BTreeSet::new();
    let mut wanted = names.borrow_and_update().clone();
    loop {
        for host in wanted {
            if names.has_changed().unwrap_or(true) {
                break;
            }
            match look_up(&env, &host).await {
                Ok(addresses) => {
                    missing.remove(&host);
                    learns.learn(&host, addresses);
                }
                Err(why) => {
                    // Its last known addresses stay.
                    if missing.insert(host.clone()) {
                        warn!("max.connections.per.ip.overrides: {host} has no address: {why}");
                    }
                }
            }
        }
        learns.looked_up();
        wanted = tokio::select! {
            biased;
            told = names.changed() => match told {
                Ok(()) => {
                    let wanted = names.borrow_and_update().clone();
                    missing.retain(|host| wanted.contains(host));
                    wanted
                }
                Err(_) => return,
            },
            () = sleep(LOOK_AGAIN), if !missing.is_empty() => missing.clone(),
        };
    }
}

async fn look_up(env: &Env, host: &str) -> Result<Vec<IpAddr>, String> {
    match env.net.resolve(host).await {
        Ok(addresses) if addresses.is_empty() => Err("the name is known, and no more".to_owned()),
        Ok(addresses) => Ok(addresses),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::{Bound, Boxed, Endpoint, Net, Stream, os};
    use parking_lot::Mutex;
    use std::io;
    use std::sync::Arc;
    use tokio::time::{Instant, timeout};

    /// Knows a name from its second look-up on.
    #[derive(Debug, Default)]
    struct Names {
        asked: Mutex<Vec<String>>,
    }

    impl Net for Names {
        fn bind<'a>(&'a self, _at: &'a Endpoint) -> Boxed<'a, io::Result<Box<dyn Bound>>> {
            Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
        }
        fn connect<'a>(
            &'a self,
            _host: &'a str,
            _port: u16,
        ) -> Boxed<'a, io::Result<Box<dyn Stream>>> {
            Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
        }
        fn resolve<'a>(&'a self, host: &'a str) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
            let mut asked = self.asked.lock();
            let is_known = host == "known" || asked.iter().any(|it| it == host);
            asked.push(host.to_owned());
            let found = is_known.then(|| vec![IpAddr::from([10, 0, 0, 1])]);
            Box::pin(async { found.ok_or(io::ErrorKind::NotFound.into()) })
        }
    }

    /// What was learned, and after how many seconds.
    struct Notes(Instant, Mutex<Vec<String>>, Arc<tokio::sync::Notify>);

    impl Learns for &Notes {
        fn learn(&self, host: &str, _addresses: Vec<IpAddr>) {
            self.1.lock().push(format!("{host}@{}", self.0.elapsed().as_secs()));
        }
        fn looked_up(&self) {
            self.2.notify_one();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_without_an_address_is_looked_up_again_until_it_has_one() {
        let net = Arc::new(Names::default());
        let env = Env { net: Arc::clone(&net) as Arc<dyn Net>, ..os::env() };
        let names = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect();
        let (tell, told) = watch::channel(names(&["known", "late"]));
        let notes = Notes(Instant::now(), Mutex::default(), Arc::default());
        let looked_up = Arc::clone(&notes.2);
        let story = async move {
            looked_up.notified().await;
            looked_up.notified().await;
            sleep(Duration::from_secs(100)).await;
            tell.send_replace(names(&["other"]));
            looked_up.notified().await;
            sleep(Duration::from_secs(100)).await;
        };
        let both = async { tokio::join!(follow(env, told, &notes), story) };
        timeout(Duration::from_secs(1000), both).await.unwrap();
        assert_eq!(notes.1.lock().join(" "), "known@0 late@30 other@160");
        assert_eq!(net.asked.lock().join(" "), "known late late other other");
    }
}
