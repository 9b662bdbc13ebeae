//! Network namespaces: machines and networks of their own within this machine. They need root.

use crate::process::run;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{Shutdown, shutdown};
use std::ffi::OsStr;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

/// A machine as far as its network goes; it ends with this value and what runs in it.
#[derive(Debug)]
pub struct Namespace(String);

impl Namespace {
    /// A machine with a loopback alone.
    pub fn new(name: &str) -> Namespace {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let namespace = Namespace(format!("highwater-{}-{number}-{name}", std::process::id()));
        run(Command::new("ip").args(["netns", "add", &namespace.0]), LIMIT).ok();
        namespace.ip("link set lo up");
        namespace
    }

    /// Does `ip WORDS` on this machine.
    pub fn ip(&self, words: &str) {
        let mut command = Command::new("ip");
        command.args(["-n", &self.0]).args(words.split_whitespace());
        run(&mut command, LIMIT).ok();
    }

    /// A cable from `here` on this machine to `there` on another.
    pub fn cable(&self, here: &str, other: &Namespace, there: &str) {
        self.ip(&format!("link add {here} type veth peer name {there} netns {}", other.0));
        self.ip(&format!("link set {here} up"));
        other.ip(&format!("link set {there} up"));
    }

    /// Gives `device` an address, as `10.0.0.1/24`.
    pub fn address(&self, device: &str, address: &str) {
        // An IPv6 address is in use at once, and not after a look for others that have it.
        let at_once = if address.contains(':') { "nodad" } else { "" };
        self.ip(&format!("address add {address} dev {device} {at_once}"));
    }

    /// A program that will run on this machine; nothing comes between it and its signals.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0]).arg(program);
        command
    }

    /// Publishes `to` at `at` on this machine, as Docker's proxy does: whoever connects to it comes
    /// from this machine's address.
    ///
    /// # Panics
    /// When the address is taken.
    pub fn publish(&self, at: SocketAddr, to: SocketAddr) -> Proxy {
        let name = format!("/run/netns/{}", self.0);
        let namespace = std::fs::File::open(name).expect("the namespace");
        let (sender, bound) = std::sync::mpsc::channel();
        // The thread moves; those that it starts follow it.
        let thread = thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("root may");
            let listener = Arc::new(TcpListener::bind(at).expect("a free port"));
            sender.send(Arc::clone(&listener)).expect("somebody waits");
            while let Ok((client, _)) = listener.accept() {
                thread::spawn(move || {
                    TcpStream::connect(to).and_then(|server| join(client, server))
                });
            }
        });
        Proxy { listener: bound.recv().expect("it is bound"), thread: Some(thread) }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(Command::new("ip").args(["netns", "delete", &self.0]).status());
    }
}

/// A published port, until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    listener: Arc<TcpListener>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It wakes whoever waits in `accept`, and the thread ends.
        let _ = shutdown(self.listener.as_raw_fd(), Shutdown::Both);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn join(mut client: TcpStream, mut server: TcpStream) -> io::Result<()> {
    let (mut up, mut down) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let copied = io::copy(&mut up, &mut down);
        drop(down.shutdown(std::net::Shutdown::Write));
        copied
    });
    io::copy(&mut server, &mut client)?;
    client.shutdown(std::net::Shutdown::Write)
}
