//! A connection from the client's side, over a pipe and with a clock that only waiting moves.

use super::super::roster::Roster;
use super::*;
use crate::api::ListenerKind;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    ApiKey, FetchRequest, HeartbeatRequest, MetadataRequest, ProduceRequest, Request as _,
};
use std::cell::RefCell;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;

thread_local! {
    /// What the handlers of this test did, and after how many milliseconds.
    static DONE: RefCell<Vec<(String, u128)>> = const { RefCell::new(Vec::new()) };
    static BEGAN: RefCell<Option<Instant>> = const { RefCell::new(None) };
}

fn note(what: String) {
    let began = BEGAN.with_borrow_mut(|began| *began.get_or_insert_with(Instant::now));
    DONE.with_borrow_mut(|done| done.push((what, began.elapsed().as_millis())));
}

/// What was noted since, as `what@ms`.
fn noted() -> String {
    let all: Vec<_> = DONE.take().into_iter().map(|(what, ms)| format!("{what}@{ms}")).collect();
    all.join(" ")
}

/// Waits as long as the request says; 0 not at all, and 666 panics.
fn after<R: Send + 'static>(ms: i32, response: R) -> Reply<R> {
    assert_ne!(ms, 666, "a bug in a handler");
    match u64::try_from(ms) {
        Ok(0) | Err(_) => Reply::Now(response),
        Ok(ms) => {
            let until = Instant::now() + Duration::from_millis(ms);
            Reply::later(async move {
                let never = std::future::pending::<()>();
                assert!(tokio::time::timeout_at(until, never).await.is_err());
                Ok(response)
            })
        }
    }
}

/// Answers with the correlation id, and a fetch with as many bytes behind it as it asked for.
struct Handlers;

impl Service for Handlers {
    fn overlap(&self, _from: &RequestContext, key: ApiKey) -> Option<Overlap> {
        let never = [ApiKey::Fetch, ApiKey::Heartbeat].contains(&key).then_some(Overlap::Never);
        if key == ApiKey::Produce { Some(Overlap::Produce) } else { never }
    }

    fn call(
        &self,
        from: &RequestContext,
        (key, version): (ApiKey, i16),
        body: Bytes,
    ) -> crate::api::Answer {
        let malformed = |_| Close(ErrorCode::InvalidRequest);
        let id = from.correlation_id;
        let frame = [4_i32.to_be_bytes(), id.to_be_bytes()].concat();
        let answer = vec![Piece::Bytes(frame.into())];
        if key == ApiKey::Produce {
            note(format!("P{id}"));
            let request = ProduceRequest::read(body, version).map_err(malformed)?;
            return Ok(match request.acks {
                0 => Reply::Silence,
                _ => after(request.timeout_ms, answer),
            });
        }
        if key == ApiKey::Fetch {
            note(format!("F{id}{}", from.client_id));
            let request = FetchRequest::read(body, version).map_err(malformed)?;
            let padding = vec![0; usize::try_from(request.min_bytes).unwrap()];
            let size = i32::try_from(4 + padding.len()).unwrap();
            let frame = [&size.to_be_bytes()[..], &id.to_be_bytes(), &padding].concat();
            let answer = vec![Piece::Bytes(frame.into())];
            return Ok(after(request.max_wait_ms, answer));
        }
        Ok(Reply::Now(answer))
    }
}

/// The client's end, and the broker's task.
struct Client {
    pipe: DuplexStream,
    task: JoinHandle<End>,
    roster: Arc<Roster>,
    next: i32,
}

impl Client {
    fn connect(limits: Limits, pipe_bytes: usize) -> Client {
        Client::sharing(&Budget::new(1 << 20), limits, pipe_bytes)
    }

    fn sharing(budget: &Arc<Budget>, limits: Limits, pipe_bytes: usize) -> Client {
        let (pipe, ours) = duplex(pipe_bytes);
        let roster = Roster::new(1);
        let address = ([127, 0, 0, 1], 40_000).into();
        let seat = roster.seat(&"A".into(), [127, 0, 0, 1].into(), &limits).unwrap();
        let from = RequestContext {
            listener: "A".into(),
            listener_kind: ListenerKind::Client,
            peer: address,
            told: None,
            principal: "User:ANONYMOUS".into(),
            client_id: "".into(),
            software: Arc::default(),
            correlation_id: 0,
        };
        let shared = (Arc::new(limits), Arc::clone(budget));
        let asked = (Arc::new(Handlers) as Arc<dyn Service>, Arc::default(), from);
        let connection = Connection::new(Box::new(ours), asked, seat, shared);
        Client { pipe, task: tokio::spawn(connection.run()), roster, next: 1 }
    }

    fn produce(&mut self, acks: i16, after_ms: i32) -> Bytes {
        let request = ProduceRequest::default().with_acks(acks).with_timeout_ms(after_ms);
        self.number(|id| request.frame(3, id, "").unwrap())
    }

    fn fetch(&mut self, after_ms: i32) -> Bytes {
        let request = FetchRequest::default().with_max_wait_ms(after_ms);
        self.number(|id| request.frame(4, id, "c").unwrap())
    }

    /// A fetch whose answer is more than a connection keeps unsent.
    fn fetch_much(&mut self, after_ms: i32) -> Bytes {
        let much = i32::try_from(2 * UNSENT_BYTES_MAX).unwrap();
        let request = FetchRequest::default().with_max_wait_ms(after_ms).with_min_bytes(much);
        self.number(|id| request.frame(4, id, "c").unwrap())
    }

    /// More than any read-ahead buffer takes.
    fn produce_much(&mut self) -> Bytes {
        let data = PartitionProduceData::default().with_records(Some(vec![0; 3 << 19].into()));
        let topic = TopicProduceData::default().with_partition_data(vec![data]);
        let request = ProduceRequest::default().with_acks(1).with_topic_data(vec![topic]);
        self.number(|id| request.frame(3, id, "").unwrap())
    }

    fn number(&mut self, frame: impl FnOnce(i32) -> Bytes) -> Bytes {
        self.next += 1;
        frame(self.next - 1)
    }

    async fn send(&mut self, frames: &[Bytes]) {
        self.pipe.write_all(&frames.concat()).await.unwrap();
    }

    /// The correlation ids of so many answers.
    async fn answers(&mut self, count: usize) -> Vec<i32> {
        let mut ids = Vec::new();
        for _ in 0..count {
            let size = self.pipe.read_i32().await.unwrap();
            ids.push(self.pipe.read_i32().await.unwrap());
            let mut rest = vec![0; usize::try_from(size).unwrap() - 4];
            self.pipe.read_exact(&mut rest).await.unwrap();
        }
        ids
    }

    /// How it ended, when nothing more came from it.
    async fn end(mut self) -> End {
        assert_eq!(self.pipe.read(&mut [0]).await.unwrap(), 0, "it says nothing more");
        self.task.await.unwrap()
    }
}

fn client() -> Client {
    Client::connect(Limits::default(), 64 << 10)
}

#[tokio::test(start_paused = true)]
async fn a_request_cut_at_every_byte_is_answered() {
    let mut client = client();
    let frame = client.fetch(0);
    for cut in 0..frame.len() {
        client.send(&[frame.slice(..cut)]).await;
        tokio::task::yield_now().await;
        client.send(&[frame.slice(cut..)]).await;
        assert_eq!(client.answers(1).await, [1]);
    }
}

#[tokio::test(start_paused = true)]
async fn only_produce_starts_while_earlier_produce_waits_and_answers_keep_their_order() {
    let mut client = client();
    let frames = [
        client.produce(-1, 100),
        client.produce(-1, 50),
        client.produce(1, 0),
        client.fetch(10),
        client.fetch(0),
        client.produce(-1, 20),
        client.produce(0, 0),
        client.produce(1, 0),
    ];
    client.send(&frames).await;
    assert_eq!(client.answers(7).await, [1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(noted(), "P1@0 P2@0 P3@0 F4c@100 F5c@110 P6@110 P7@110 P8@110");
}

#[tokio::test(start_paused = true)]
async fn many_pipelined_requests_are_answered_though_the_client_reads_late() {
    let mut client = Client::connect(Limits::default(), 256);
    let frames: Vec<_> = (0..2000)
        .map(|number| match number % 3 {
            0 => client.produce(-1, 1),
            1 => client.produce(1, 0),
            _ => client.fetch(0),
        })
        .collect();
    let Client { pipe, .. } = client;
    let (mut from, mut to) = tokio::io::split(pipe);
    let sent = async { to.write_all(&frames.concat()).await.unwrap() };
    let read = async {
        for want in 1..=2000 {
            let size = from.read_i32().await.unwrap();
            assert_eq!(from.read_i32().await.unwrap(), want);
            let mut rest = vec![0; usize::try_from(size).unwrap() - 4];
            from.read_exact(&mut rest).await.unwrap();
        }
    };
    tokio::join!(sent, read);
}

#[tokio::test(start_paused = true)]
async fn whoever_shuts_its_sending_side_still_gets_its_answers() {
    let mut client = client();
    let frames = [client.produce(-1, 100), client.fetch(100), client.produce(1, 0).slice(..9)];
    client.send(&frames).await;
    client.pipe.shutdown().await.unwrap();
    assert_eq!(client.answers(2).await, [1, 2]);
    assert!(matches!(client.end().await, End::Done));
}

#[tokio::test(start_paused = true)]
async fn when_all_shall_end_what_was_started_is_answered_and_nothing_starts() {
    let mut client = client();
    let frames = [client.produce(-1, 100), client.fetch(0)];
    client.send(&frames).await;
    sleep(Duration::from_millis(10)).await;
    client.roster.stop();
    let late = client.produce(1, 0);
    client.send(&[late]).await;
    // The fetch was read already: whoever reads it will answer it.
    assert_eq!(client.answers(2).await, [1, 2]);
    assert!(matches!(client.end().await, End::Done));
    assert_eq!(noted(), "P1@0 F2c@100");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_answered_closes_the_connection() {
    let unknown = MetadataRequest::default().frame(1, 1, "").unwrap();
    let no_body = Bytes::from_static(b"\0\0\0\x0a\0\x01\0\x04\0\0\0\x01\xff\xff");
    for (frame, want) in [
        (unknown, "a request that is refused with UnsupportedVersion"),
        (no_body, "a request that is refused with InvalidRequest"),
        (Bytes::from_static(&[0, 0, 0, 1, 0]), "the frame ends within its header"),
        (Bytes::from_static(&[0, 0, 0, 0]), "a frame of 0 bytes"),
        (Bytes::from_static(&[0xff; 4]), "a frame of -1 bytes"),
        (Bytes::from_static(b"GET / HTTP/1.1\r\n\r\n"), "a frame of 1195725856 bytes"),
        (Bytes::from_static(b"\x01\0\0\0\0\x03"), "a request 3 of 16777216 bytes"),
    ] {
        let mut client = client();
        let first = client.fetch(0);
        client.send(&[first, frame]).await;
        assert_eq!(client.answers(1).await, [1], "earlier answers are sent: {want}");
        assert_eq!(client.end().await.to_string(), want);
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_and_a_waiting_one_is_not() {
    let idle_max = Duration::from_secs(60);
    let mut client = Client::connect(Limits { idle_max, ..Limits::default() }, 64 << 10);
    let began = Instant::now();
    let frames = [client.fetch(300_000)];
    client.send(&frames).await;
    assert_eq!(client.answers(1).await, [1]);
    assert_eq!(began.elapsed().as_secs(), 300);
    assert!(matches!(client.end().await, End::Idle));
    let idle = began.elapsed() - Duration::from_secs(300);
    assert!((60..=70).contains(&idle.as_secs()), "{idle:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_read_its_answers_is_closed() {
    let idle_max = Duration::from_secs(60);
    let mut client = Client::connect(Limits { idle_max, ..Limits::default() }, 16);
    let frame = HeartbeatRequest::default().frame(0, 1, "").unwrap();
    for _ in 0..10 {
        client.pipe.write_all(&frame).await.unwrap();
    }
    assert!(matches!(client.task.await.unwrap(), End::Idle));
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_this_connection_and_gives_up_its_seat() {
    let mut client = client();
    let frames = [client.fetch(666)];
    client.send(&frames).await;
    assert!(client.task.await.unwrap_err().is_panic());
    assert!(client.roster.is_empty());
}

/// Two connections with one budget, of which somebody else has taken all, and more.
async fn two_on_one_budget() -> (Client, Client, super::super::budget::Lease) {
    let budget = Budget::new(1 << 20);
    let mut lease = budget.lease();
    poll_fn(|cx| lease.poll_take(cx, 2 << 20)).await;
    let connect = || Client::sharing(&budget, Limits::default(), 64 << 10);
    (connect(), connect(), lease)
}

#[tokio::test(start_paused = true)]
async fn who_takes_no_answers_steps_aside_from_the_memory_it_waits_for() {
    let (mut silent, mut other, lease) = two_on_one_budget().await;
    let fetch = silent.fetch_much(10);
    let produce = silent.produce_much();
    silent.send(&[fetch, produce.slice(..100)]).await;
    // It waits for memory, and is the oldest.
    sleep(Duration::from_millis(5)).await;
    let began = Instant::now();
    let large = other.produce_much();
    let served = async {
        other.send(&[large]).await;
        assert_eq!(other.answers(1).await, [1]);
    };
    let free = async {
        sleep(Duration::from_millis(10)).await;
        drop(lease);
    };
    tokio::join!(served, free);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    // It has its turn when it goes on.
    assert_eq!(silent.answers(1).await, [1]);
    silent.send(&[produce.slice(100..)]).await;
    assert_eq!(silent.answers(1).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn who_takes_no_answers_and_holds_memory_that_others_wait_for_is_closed() {
    let (mut silent, mut other, lease) = two_on_one_budget().await;
    drop(lease);
    let frames = [silent.fetch_much(10), silent.produce_much()];
    silent.send(&frames).await;
    sleep(Duration::from_millis(20)).await;
    assert!(!silent.task.is_finished(), "its request is there whole, and waits for its answers");
    let began = Instant::now();
    let large = other.produce_much();
    other.send(&[large]).await;
    assert_eq!(other.answers(1).await, [1]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(matches!(silent.task.await.unwrap(), End::Stalled));
}

#[tokio::test(start_paused = true)]
async fn who_has_memory_wait_for_an_answer_that_it_wants_late_is_closed() {
    let (mut patient, mut other, lease) = two_on_one_budget().await;
    drop(lease);
    let frames = [patient.fetch(i32::MAX), patient.produce_much()];
    patient.send(&frames).await;
    sleep(Duration::from_millis(20)).await;
    let began = Instant::now();
    let large = other.produce_much();
    other.send(&[large]).await;
    assert_eq!(other.answers(1).await, [1]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(matches!(patient.task.await.unwrap(), End::Stalled));
}

#[tokio::test(start_paused = true)]
async fn who_has_answers_meanwhile_keeps_its_memory() {
    let (mut busy, mut other, lease) = two_on_one_budget().await;
    drop(lease);
    let large = other.produce_much();
    // Each time it is looked at, a large frame waits for a fetch of its own.
    for round in 0..20 {
        let frames = [busy.fetch(4000), busy.produce_much()];
        busy.send(&frames).await;
        if round == 0 {
            other.send(std::slice::from_ref(&large)).await;
        }
        assert_eq!(busy.answers(2).await, [2 * round + 1, 2 * round + 2]);
    }
    assert_eq!(other.answers(1).await, [1]);
}

/// As long as it waits for what others hold, it is not its own fault.
#[tokio::test(start_paused = true)]
async fn who_waits_for_memory_is_not_idle() {
    let budget = Budget::new(1 << 20);
    let mut lease = budget.lease();
    poll_fn(|cx| lease.poll_take(cx, 2 << 20)).await;
    let limits = Limits { idle_max: Duration::from_secs(60), ..Limits::default() };
    let mut client = Client::sharing(&budget, limits, 64 << 10);
    let large = client.produce_much();
    let sent = async { client.send(&[large]).await };
    let free = async {
        sleep(Duration::from_secs(300)).await;
        drop(lease);
    };
    tokio::join!(sent, free);
    assert_eq!(client.answers(1).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn who_is_gone_is_let_go_though_a_request_of_it_is_worked_on() {
    let idle_max = Duration::from_secs(60);
    let connect =
        |pipe_bytes| Client::connect(Limits { idle_max, ..Limits::default() }, pipe_bytes);
    let (mut unread, mut half) = (connect(64), connect(64 << 10));
    let began = Instant::now();
    let heartbeat = HeartbeatRequest::default().frame(0, 1, "").unwrap();
    let fetch = unread.fetch(i32::MAX);
    unread.send(&vec![heartbeat; 20]).await;
    unread.send(&[fetch]).await;
    let frames = [half.fetch(i32::MAX), half.fetch(0).slice(..9)];
    half.send(&frames).await;
    assert!(matches!(unread.task.await.unwrap(), End::Idle));
    assert!(matches!(half.task.await.unwrap(), End::Idle));
    assert!(began.elapsed() < Duration::from_secs(71), "{:?}", began.elapsed());
}
