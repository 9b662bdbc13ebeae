//! A machine that remembers words.

use crate::config::BrokerConfig;
use crate::coordinator::{Effects, Machine, Moment, Record, Refuse, Timers, Token, Tuning};
use bytes::Bytes;
use kraft::image::Image;
use protocol::compression::Codec;
use protocol::coordinator::{Malformed, TooLong};
use protocol::error::ErrorCode;
use protocol::records::batch::TRANSACTIONAL;
use protocol::records::builder::BatchBuilder;
use protocol::records::control::{ControlKind, end_of_transaction};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Toy {
    words: Vec<String>,
    waiting: Vec<Token>,
    timers: Timers<String>,
    /// What was added when its time had come.
    due: Option<String>,
    images: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word(String);

#[derive(Debug)]
pub(crate) enum Ask {
    Add(&'static str),
    AddAll(&'static [&'static str]),
    AddQuietly(&'static str),
    AddIn(&'static str, Duration),
    /// Adds one, and says how many there are then.
    Count,
    Get,
    /// For the next word.
    Wait,
    /// All there are.
    Topics,
    Panic,
    /// Adds a word once the gate is opened.
    Hold(Gate),
}

/// Holds up whoever comes to it.
#[derive(Debug)]
pub(crate) struct Gate {
    arrives: Sender<()>,
    opens: Receiver<()>,
}

/// Of whoever holds a gate closed.
#[derive(Debug)]
pub(crate) struct Keeper {
    arrives: Receiver<()>,
    opens: Sender<()>,
}

pub(crate) fn gate() -> (Gate, Keeper) {
    let ((here, arrives), (open, opens)) = (channel(), channel());
    (Gate { arrives: here, opens }, Keeper { arrives, opens: open })
}

impl Keeper {
    /// Waits until somebody stands there.
    pub(crate) fn arrived(&self) {
        self.arrives.recv().unwrap();
    }

    pub(crate) fn open(&self) {
        self.opens.send(()).unwrap();
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Values(String),
    Count(usize),
    Refused(ErrorCode),
}

impl Refuse for Said {
    fn refuse(self, code: ErrorCode) -> Said {
        Said::Refused(code)
    }
}

impl Record for Word {
    fn key(&self) -> Result<Vec<u8>, TooLong> {
        Ok(b"word".to_vec())
    }

    fn value(&self) -> Result<Option<Vec<u8>>, TooLong> {
        Ok(Some(self.0.clone().into_bytes()))
    }

    fn read(key: &[u8], value: Option<&[u8]>) -> Result<Option<Word>, Malformed> {
        match key {
            b"word" => Ok(Some(Word(String::from_utf8(value.unwrap().to_vec()).unwrap()))),
            b"unknown" => Ok(None),
            _ => Err(Malformed("no word".to_owned())),
        }
    }
}

impl Toy {
    /// What everybody is told once `added` are there.
    fn add(&mut self, token: Option<Token>, added: &[&str]) -> Effects<Word, Said> {
        let waiting = std::mem::take(&mut self.waiting);
        let words: Vec<_> =
            self.words.iter().map(String::as_str).chain(added.iter().copied()).collect();
        let said = Said::Values(words.join(","));
        Effects {
            records: added.iter().map(|word| Word((*word).to_owned())).collect(),
            replies: waiting.into_iter().chain(token).map(|it| (it, said.clone())).collect(),
        }
    }
}

impl Machine for Toy {
    const TOPIC: &'static str = "toys";
    type Record = Word;
    type Request = Ask;
    type Reply = Said;

    fn tuning(config: &BrokerConfig) -> Tuning {
        let timeout = config.values.offsets_topic.commit_timeout_ms;
        let commit_timeout = Duration::from_millis(timeout.try_into().unwrap());
        // Small, so that loading takes more than one read.
        Tuning { codec: Codec::Lz4, commit_timeout, load_bytes: 100 }
    }

    fn apply(&mut self, _moment: &Moment<'_>, record: Word) {
        self.words.push(record.0);
    }

    fn undecided(&mut self, record: Word) {
        self.words.push(format!("{}?", record.0));
    }

    fn loaded(&mut self, _moment: &Moment<'_>) -> Vec<Effects<Word, Said>> {
        Vec::new()
    }

    fn step(&mut self, moment: &Moment<'_>, token: Token, request: Ask) -> Effects<Word, Said> {
        match request {
            Ask::Add(word) => self.add(Some(token), &[word]),
            Ask::AddAll(words) => self.add(Some(token), words),
            Ask::AddQuietly(word) => self.add(None, &[word]),
            Ask::AddIn(word, pause) => {
                self.timers.set(word.to_owned(), moment.now + pause);
                Effects::reply(token, Said::Values(self.words.join(",")))
            }
            Ask::Count => {
                let count = self.words.len() + 1;
                Effects {
                    records: vec![Word(String::new())],
                    replies: vec![(token, Said::Count(count))],
                }
            }
            Ask::Get => Effects::reply(token, Said::Values(self.words.join(","))),
            Ask::Wait => {
                self.waiting.push(token);
                Effects::none()
            }
            Ask::Topics => Effects::reply(token, Said::Values(self.images.clone())),
            Ask::Panic => panic!("asked for"),
            Ask::Hold(gate) => {
                gate.arrives.send(()).unwrap();
                gate.opens.recv().unwrap();
                self.add(Some(token), &["late"])
            }
        }
    }

    fn image_changed(&mut self, moment: &Moment<'_>, _old: &Image) -> Vec<Effects<Word, Said>> {
        let names: Vec<_> = moment.image.topics().values().map(|it| it.name.to_string()).collect();
        self.images = names.join(",");
        Vec::new()
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.timers.next_deadline()
    }

    fn expire(&mut self, moment: &Moment<'_>) -> Option<Effects<Word, Said>> {
        let word = self.timers.pop_due(moment.now)?;
        self.due = Some(word.clone());
        Some(self.add(None, &[&word]))
    }

    fn put_off(&mut self, again: Duration) {
        if let Some(word) = self.due.take() {
            self.timers.set(word, again);
        }
    }
}

/// A batch of one record, as it stands in a log.
pub(crate) fn record(key: &str, value: &str, epoch: i32) -> BatchBuilder {
    BatchBuilder::new(0).leader_epoch(epoch).key_value(0, key.as_bytes(), value.as_bytes())
}

pub(crate) fn transactional(producer: i64, epoch: i32, word: &str) -> BatchBuilder {
    record("word", word, epoch).producer(producer, 0, 0).attributes(TRANSACTIONAL)
}

pub(crate) fn marker(producer: i64, epoch: i32, commit: bool) -> BatchBuilder {
    let kind = if commit { ControlKind::Commit } else { ControlKind::Abort };
    BatchBuilder::new(0)
        .leader_epoch(epoch)
        .producer(producer, 0, -1)
        .attributes(TRANSACTIONAL)
        .control(0, kind, &end_of_transaction(0))
}

pub(crate) fn built(batch: BatchBuilder) -> Bytes {
    batch.build().unwrap()
}

/// Letters that no codec makes fewer of.
pub(crate) fn noise(len: usize) -> &'static str {
    let mut state = 1_u64;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    (0..len).map(letter).collect::<String>().leak()
}
