//! The least that moving records costs here: the system calls of a broker without the broker.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that stands outside the broker, and prints"
)]

use clap::Parser;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::sendfile::sendfile64;
use nix::sys::time::TimeValLike;
use protocol::records::batch::crc_of;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Per GB, the CPU-seconds of threads that take what a client sends and append it to files, and
/// of threads that send a file: as little as that can be, one thread a connection.
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Megabytes (10^6) of each step
    #[arg(long, default_value_t = 800)]
    mb: usize,

    /// Bytes of a frame
    #[arg(long, default_value_t = 61_500)]
    frame: usize,

    #[arg(long, default_value_t = 2)]
    connections: usize,

    /// A folder on the disk that is to be measured
    #[arg(long, default_value = "target/floor")]
    dir: PathBuf,
}

/// Frames that a client has sent and not seen answered.
const IN_FLIGHT: usize = 5;
/// Files that a connection writes to in turn.
const FILES: usize = 4;
const ANSWER: [u8; 40] = [1; 40];
const READ_AHEAD_BYTES: usize = 256 << 10;
/// As a broker takes blocks ahead: from 1 MiB on, no more than there is.
const RESERVE_FROM: u64 = 1 << 20;
const RESERVE_MAX: u64 = 32 << 20;
const SLICE_BYTES: usize = 1 << 20;
/// As a broker writes what is long.
const PIECE_BYTES: usize = 256 << 10;

fn main() -> io::Result<()> {
    let options = Options::parse();
    fs::create_dir_all(&options.dir)?;
    let step = |name: &str, seconds: io::Result<f64>| {
        let gb = f64::from(u32::try_from(options.mb).unwrap_or(u32::MAX)) / 1000.0;
        println!("{name:<12} {:.3} CPU-s/GB", seconds? / gb);
        io::Result::Ok(())
    };
    // Memory that was never touched, or given back to a host, costs several times the copy.
    warm(&options)?;
    step("receive", ingest(&options, |_| Ok(Files::default())))?;
    warm(&options)?;
    step("write", write_alone(&options))?;
    warm(&options)?;
    step("ingest", ingest(&options, |at| Files::create(&options.dir, at)))?;
    step("sendfile", send(&options))?;
    fs::remove_dir_all(&options.dir)
}

/// CPU-seconds of this thread so far.
fn spent() -> io::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1e6)
}

/// Writes as much as a step does and takes it away again.
fn warm(options: &Options) -> io::Result<()> {
    write_alone(options).map(drop)
}

fn write_alone(options: &Options) -> io::Result<f64> {
    let frame = vec![0x5a; options.frame];
    let mut files = Files::create(&options.dir, options.connections)?;
    let before = spent()?;
    for _ in 0..options.mb * 1_000_000 / options.frame {
        files.append(&frame)?;
    }
    let seconds = spent()? - before;
    files.remove()?;
    Ok(seconds)
}

/// Several files that are appended to in turn; none: what comes is dropped.
#[derive(Debug, Default)]
struct Files {
    files: Vec<Appended>,
    next: usize,
}

#[derive(Debug)]
struct Appended {
    file: File,
    path: PathBuf,
    size: u64,
    reserved: u64,
}

impl Files {
    fn create(dir: &Path, at: usize) -> io::Result<Files> {
        let create = |number| {
            let path = dir.join(format!("{at}-{number}"));
            Ok(Appended { file: File::create(&path)?, path, size: 0, reserved: 0 })
        };
        Ok(Files { files: (0..FILES).map(create).collect::<io::Result<_>>()?, next: 0 })
    }

    fn append(&mut self, frame: &[u8]) -> io::Result<()> {
        let count = self.files.len();
        let Some(it) = self.files.get_mut(self.next % count.max(1)) else { return Ok(()) };
        self.next += 1;
        let end = it.size + frame.len() as u64;
        if RESERVE_FROM <= it.size && it.reserved < end {
            it.reserved = end.max(it.size + it.size.min(RESERVE_MAX));
            let (from, len) = (it.size.cast_signed(), (it.reserved - it.size).cast_signed());
            fallocate(&it.file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from, len)?;
        }
        it.file.write_all_at(frame, it.size)?;
        it.size = end;
        Ok(())
    }

    fn remove(self) -> io::Result<()> {
        self.files.into_iter().try_for_each(|it| fs::remove_file(it.path))
    }
}

/// Frames over loopback, read ahead, checked, appended, answered: CPU-seconds of who takes them.
fn ingest(options: &Options, files: impl Fn(usize) -> io::Result<Files>) -> io::Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    let frames = options.mb * 1_000_000 / options.frame / options.connections;
    let size = options.frame;
    thread::scope(|scope| {
        let mut serving = Vec::new();
        for number in 0..options.connections {
            scope.spawn(move || client(TcpStream::connect(at)?, size, frames));
            let (stream, mut files) = (listener.accept()?.0, files(number)?);
            serving.push(scope.spawn(move || {
                let before = spent()?;
                serve(stream, size, frames, &mut files)?;
                let seconds = spent()? - before;
                files.remove()?;
                io::Result::Ok(seconds)
            }));
        }
        let ended =
            serving.into_iter().map(|it| it.join().map_err(|_| io::Error::other("panic"))?);
        ended.sum()
    })
}

fn client(mut stream: TcpStream, size: usize, frames: usize) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut answers = stream.try_clone()?;
    let (sent, in_flight) = sync_channel(IN_FLIGHT);
    let frame = vec![0x5a; size];
    let reading = thread::spawn(move || {
        let mut answer = ANSWER;
        for () in in_flight {
            answers.read_exact(&mut answer)?;
        }
        io::Result::Ok(())
    });
    for _ in 0..frames {
        if sent.send(()).is_err() {
            break;
        }
        stream.write_all(&frame)?;
    }
    drop(sent);
    reading.join().map_err(|_| io::Error::other("panic"))?
}

fn serve(mut stream: TcpStream, size: usize, frames: usize, files: &mut Files) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; READ_AHEAD_BYTES.max(2 * size)];
    let (mut filled, mut left, mut sum) = (0, frames, 0_u32);
    while left != 0 {
        filled += match stream.read(buffer.get_mut(filled..).unwrap_or_default())? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => count,
        };
        let mut answers = Vec::new();
        for frame in buffer.get(..filled).unwrap_or_default().chunks_exact(size) {
            sum ^= crc_of(frame);
            files.append(frame)?;
            answers.extend(ANSWER);
        }
        stream.write_all(&answers)?;
        left -= answers.len() / ANSWER.len();
        let done = answers.len() / ANSWER.len() * size;
        buffer.copy_within(done..filled, 0);
        filled -= done;
    }
    std::hint::black_box(sum);
    Ok(())
}

/// A file of the step's size out of the page cache, a part of it on each connection: CPU-seconds of
/// who sends it.
fn send(options: &Options) -> io::Result<f64> {
    let path = options.dir.join("sent");
    let mut written = File::create(&path)?;
    let piece = vec![0x5a; PIECE_BYTES];
    let part = options.mb * 1_000_000 / options.connections;
    for at in (0..part * options.connections).step_by(PIECE_BYTES) {
        let len = PIECE_BYTES.min(part * options.connections - at);
        written.write_all(piece.get(..len).unwrap_or_default())?;
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    thread::scope(|scope| {
        let mut serving = Vec::new();
        for number in 0..options.connections {
            scope.spawn(move || {
                let mut stream = TcpStream::connect(at)?;
                let mut buffer = vec![0; 1 << 20];
                while stream.read(&mut buffer)? != 0 {}
                io::Result::Ok(())
            });
            let (stream, file) = (listener.accept()?.0, File::open(&path)?);
            serving.push(scope.spawn(move || {
                stream.set_nodelay(true)?;
                let before = spent()?;
                let mut offset = i64::try_from(number * part).map_err(io::Error::other)?;
                let mut left = part;
                while left != 0 {
                    let most = left.min(SLICE_BYTES);
                    left -= match sendfile64(&stream, &file, Some(&mut offset), most)? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        count => count,
                    };
                }
                Ok(spent()? - before)
            }));
        }
        let ended =
            serving.into_iter().map(|it| it.join().map_err(|_| io::Error::other("panic"))?);
        ended.sum()
    })
}
