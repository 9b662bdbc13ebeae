//! Tells the service manager how far the broker is, as sd_notify(3) says: datagrams to the socket
//! that `NOTIFY_SOCKET` names. Without one nobody asks, and nothing is sent.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use tracing::warn;

/// Whom to tell.
#[derive(Debug)]
pub struct Notify(Option<(UnixDatagram, SocketAddr)>);

impl Notify {
    /// `socket` is a path, or behind `@` a name of Linux's abstract ones.
    pub fn new(socket: Option<&OsStr>) -> Notify {
        let Some(name) = socket.filter(|name| !name.is_empty()) else { return Notify(None) };
        match open(name) {
            Ok(opened) => Notify(Some(opened)),
            Err(error) => {
                warn!("NOTIFY_SOCKET={} cannot be used: {error}", name.to_string_lossy());
                Notify(None)
            }
        }
    }

    /// Clients are served.
    pub fn ready(&self) {
        self.send("READY=1\nSTATUS=Clients are served");
    }

    /// The configuration is read anew; [`Notify::ready`] says that this is done.
    pub fn reloading(&self) {
        self.send("RELOADING=1\nSTATUS=The configuration is read anew");
    }

    /// No new requests are taken.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=The logs are written down");
    }

    fn send(&self, text: &str) {
        let Some((socket, to)) = &self.0 else { return };
        if let Err(error) = socket.send_to_addr(text.as_bytes(), to) {
            warn!("The service manager does not hear: {error}");
        }
    }
}

fn open(name: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
    let to = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    // A manager that does not read must not hold up the broker.
    socket.set_nonblocking(true)?;
    Ok((socket, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 100];
        let count = socket.recv(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        text.lines().next().unwrap().to_owned()
    }

    #[test]
    fn each_step_is_a_datagram() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("notify");
        let abstract_name = format!("highwater-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let sockets = [
            (UnixDatagram::bind(&path).unwrap(), path.display().to_string()),
            (UnixDatagram::bind_addr(&address).unwrap(), format!("@{abstract_name}")),
        ];
        for (socket, name) in sockets {
            let notify = Notify::new(Some(OsStr::new(&name)));
            notify.ready();
            notify.reloading();
            notify.stopping();
            let told = [heard(&socket), heard(&socket), heard(&socket)];
            assert_eq!(told, ["READY=1", "RELOADING=1", "STOPPING=1"], "{name}");
        }
    }

    #[test]
    fn nobody_listens_and_nothing_breaks() {
        for name in [None, Some(""), Some("/nowhere/notify"), Some("@nobody")] {
            Notify::new(name.map(OsStr::new)).ready();
        }
    }
}
