//! What comes out of a real socket.

use super::*;
use std::future::poll_fn;
use std::sync::Arc;
use storage::disk::os::OsDisk;
use storage::disk::sim::SimDisk;
use storage::disk::{Disk, File};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::TcpSocket;

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from(at % 253).unwrap()).collect()
}

/// A file on a real disk, synced, so that its pages can be dropped.
fn file(bytes: &[u8]) -> (TempDir, Arc<dyn File>) {
    let dir = TempDir::new().unwrap();
    let file = OsDisk.create(&dir.path().join("f")).unwrap();
    file.write_all_at(0, bytes).unwrap();
    file.sync().unwrap();
    (dir, file)
}

fn range(file: &Arc<dyn File>, offset: u64, len: usize) -> Piece {
    Piece::File(FileRange { file: Arc::clone(file), offset, len })
}

fn said(bytes: &'static [u8]) -> Piece {
    Piece::Bytes(Bytes::from_static(bytes))
}

#[expect(clippy::disallowed_methods, reason = "a client is not part of the broker's world")]
async fn sockets() -> (Box<dyn Stream>, TcpStream) {
    let listener = TcpSocket::new_v4().unwrap();
    listener.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let listener = listener.listen(1).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap());
    let (accepted, client) = tokio::join!(listener.accept(), client);
    (Box::new(accepted.unwrap().0), client.unwrap())
}

async fn send(stream: Box<dyn Stream>, pieces: Vec<Piece>) -> io::Result<usize> {
    let (mut output, mut stream, mut moved) = (Output::default(), stream, 0);
    output.push(pieces);
    poll_fn(|cx| output.poll_send(cx, &mut *stream, &mut moved)).await?;
    assert!(output.is_empty() && output.unsent_bytes() == 0 && !output.holds_files());
    Ok(moved)
}

#[track_caller]
fn check_same(got: &[u8], want: &[u8]) {
    assert_eq!(got.len(), want.len());
    assert!(got == want, "the same length, other bytes");
}

#[tokio::test]
async fn bytes_and_ranges_arrive_in_their_order_from_hot_and_from_cold_pages() {
    let content = bytes(3 << 20);
    let (_dir, file) = file(&content);
    for cold_from in [3 << 20, 1 << 20, 0] {
        let (stream, mut client) = sockets().await;
        let pieces = vec![
            said(b"head"),
            range(&file, 1, 10),
            said(b"next"),
            range(&file, 4095, 2 << 20),
            said(b""),
            range(&file, 7, 70_000),
            said(b"tail"),
        ];
        file.cool(cold_from, (3 << 20) - cold_from).unwrap();
        let mut got = Vec::new();
        let read = client.read_to_end(&mut got);
        let (sent, _) = tokio::join!(send(stream, pieces), read);
        let parts: [&[u8]; 6] = [
            b"head",
            &content[1..11],
            b"next",
            &content[4095..4095 + (2 << 20)],
            &content[7..70_007],
            b"tail",
        ];
        let want = parts.concat();
        assert_eq!(sent.unwrap(), want.len());
        check_same(&got, &want);
    }
}

#[tokio::test]
async fn more_pieces_than_one_write_takes_arrive_in_their_order() {
    let (stream, mut client) = sockets().await;
    let pieces: Vec<Piece> = (0..1000u32)
        .map(|number| Piece::Bytes(Bytes::copy_from_slice(&number.to_be_bytes())))
        .collect();
    let mut got = Vec::new();
    let (sent, _) = tokio::join!(send(stream, pieces), client.read_to_end(&mut got));
    assert_eq!(sent.unwrap(), 4000);
    let want: Vec<u8> = (0..1000u32).flat_map(u32::to_be_bytes).collect();
    check_same(&got, &want);
}

#[tokio::test]
async fn a_file_that_was_cut_ends_the_connection() {
    let (_dir, file) = file(&bytes(200_000));
    let (stream, mut client) = sockets().await;
    let pieces = vec![said(b"head"), range(&file, 0, 200_001), said(b"tail")];
    let mut got = Vec::new();
    let (sent, _) = tokio::join!(send(stream, pieces), client.read_to_end(&mut got));
    assert_eq!(sent.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(got.len(), 200_004);

    let (stream, _client) = sockets().await;
    let short = send(stream, vec![said(b"head"), range(&file, 199_999, 2)]).await;
    assert_eq!(short.unwrap_err().kind(), ErrorKind::UnexpectedEof, "also where it is copied");
}

#[tokio::test]
async fn without_a_socket_the_bytes_are_read() {
    let content = bytes(300_000);
    let disk = SimDisk::default();
    let file = disk.create(std::path::Path::new("/f")).unwrap();
    file.write_all_at(0, &content).unwrap();
    let (ours, mut client) = tokio::io::duplex(1000);
    let pieces = vec![said(b"head"), range(&file, 3, 290_000), said(b"tail")];
    let mut got = Vec::new();
    let (sent, _) = tokio::join!(send(Box::new(ours), pieces), client.read_to_end(&mut got));
    assert_eq!(sent.unwrap(), 290_008);
    check_same(&got, &[b"head", &content[3..290_003], b"tail"].concat());
}
