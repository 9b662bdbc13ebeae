//! One connection to a broker, whose versions are known.

use super::address::Address;
use super::refused::Refused;
use bytes::{Buf, Bytes};
use kraft::env::{Net, Stream};
use protocol::error::ErrorCode;
use protocol::messages::{
    ApiKey, ApiVersionsRequest, ApiVersionsResponse, Request, StrBytes, Versions,
};
use std::io::{self, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The longest answer that is read, in bytes.
const ANSWER_MAX: usize = 1 << 30;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The connection is of no more use; another one may be.
    Gone(io::Error),
    /// It would be the same with any connection to this broker.
    Refused(Refused),
}

/// A connection, and what the broker said that it serves.
#[derive(Debug)]
pub struct Connection {
    stream: Box<dyn Stream>,
    client_id: String,
    last_id: i32,
    /// What the broker answered when it was asked what it serves.
    pub announced: ApiVersionsResponse,
}

impl Connection {
    /// Connects, and asks what is served.
    pub(super) async fn open(
        net: &dyn Net,
        to: &Address,
        client_id: &str,
    ) -> Result<Connection, Trouble> {
        let stream = net.connect(&to.host, to.port).await.map_err(Trouble::Gone)?;
        let mut it = Connection {
            stream,
            client_id: client_id.to_owned(),
            last_id: 0,
            announced: ApiVersionsResponse::default(),
        };
        it.announced = it.ask_versions().await?;
        Ok(it)
    }

    /// Asks with our newest version; a broker that has not got that far answers in version 0, and
    /// is asked again with its own newest.
    async fn ask_versions(&mut self) -> Result<ApiVersionsResponse, Trouble> {
        let request = ApiVersionsRequest::default()
            .with_client_software_name(StrBytes::from_static_str("highwater"))
            .with_client_software_version(StrBytes::from_static_str(env!("CARGO_PKG_VERSION")));
        let newest = ApiVersionsRequest::CODEC.max;
        let answer = self.exchange(&request, newest).await?;
        let is_too_new = |mut frame: Bytes| {
            frame.try_get_i32().is_ok()
                && frame.try_get_i16().is_ok_and(|it| it == ErrorCode::UnsupportedVersion.code())
        };
        if !is_too_new(answer.clone()) {
            return read::<ApiVersionsRequest>(newest, answer);
        }
        let old = read::<ApiVersionsRequest>(0, answer)?;
        let key = ApiKey::ApiVersions.code();
        let known = old.api_keys.iter().find(|it| it.api_key == key);
        let version = known.map_or(0, |it| it.max_version.min(newest));
        let request = if version < 3 { ApiVersionsRequest::default() } else { request };
        let answer = self.exchange(&request, version).await?;
        read::<ApiVersionsRequest>(version, answer)
    }

    /// The versions of a request that both sides know.
    #[must_use]
    pub fn versions(&self, key: ApiKey) -> Option<Versions> {
        let served = self.announced.api_keys.iter().find(|it| it.api_key == key.code())?;
        let codec = key.codec();
        let both = Versions {
            min: codec.min.max(served.min_version),
            max: codec.max.min(served.max_version),
        };
        (both.min <= both.max).then_some(both)
    }

    /// Asks in the newest version that both sides know, which must be at least `least`.
    pub(super) async fn ask<R: Request>(
        &mut self,
        request: &R,
        least: i16,
    ) -> Result<R::Response, Trouble> {
        let known = self.versions(R::KEY).filter(|both| least <= both.max);
        let versions = known.ok_or_else(|| {
            Trouble::Refused(Refused::unsupported(format!(
                "The node does not support {}",
                kafka_name(R::KEY.name())
            )))
        })?;
        let answer = self.exchange(request, versions.max).await?;
        read::<R>(versions.max, answer)
    }

    /// As [`Connection::ask`], for who goes by this one connection alone.
    ///
    /// # Errors
    /// `NetworkException` when the connection has ended.
    pub async fn ask_here<R: Request>(&mut self, request: &R) -> Result<R::Response, Refused> {
        self.ask(request, 0).await.map_err(|trouble| match trouble {
            Trouble::Refused(refused) => refused,
            Trouble::Gone(error) => Refused::of(ErrorCode::NetworkException, error.to_string()),
        })
    }

    async fn exchange<R: Request>(&mut self, request: &R, version: i16) -> Result<Bytes, Trouble> {
        self.last_id = self.last_id.wrapping_add(1);
        let frame = request.frame(version, self.last_id, &self.client_id).map_err(|why| {
            Trouble::Refused(Refused::unsupported(format!(
                "The broker serves {} up to version {version} only, which cannot say this: {why}",
                R::KEY.name()
            )))
        })?;
        self.stream.write_all(&frame).await.map_err(Trouble::Gone)?;
        self.stream.flush().await.map_err(Trouble::Gone)?;
        self.receive().await.map_err(Trouble::Gone)
    }

    /// The next frame, without its length.
    async fn receive(&mut self) -> io::Result<Bytes> {
        let length = usize::try_from(self.stream.read_i32().await?).unwrap_or(usize::MAX);
        if ANSWER_MAX < length {
            let why = "what answers is no Kafka broker, or speaks TLS";
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        // Memory is taken as the bytes arrive.
        let mut frame = Vec::with_capacity(length.min(64 << 10));
        let limit = u64::try_from(length).unwrap_or(u64::MAX);
        let count = (&mut self.stream).take(limit).read_to_end(&mut frame).await?;
        if count < length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(frame.into())
    }
}

/// `DescribeConfigs` as Kafka's errors spell it: `DESCRIBE_CONFIGS`.
fn kafka_name(name: &str) -> String {
    let mut spelt = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !spelt.is_empty() {
            spelt.push('_');
        }
        spelt.push(letter.to_ascii_uppercase());
    }
    spelt
}

fn read<R: Request>(version: i16, answer: Bytes) -> Result<R::Response, Trouble> {
    let read = R::read_response(version, answer).map_err(|why| {
        Trouble::Refused(Refused::of(
            ErrorCode::UnknownServerError,
            format!("the answer to {} cannot be read: {why}", R::KEY.name()),
        ))
    });
    read.map(|(_, response)| response)
}
