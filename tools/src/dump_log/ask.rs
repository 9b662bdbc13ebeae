//! What `kafka-dump-log` is asked for.

use super::decoder::Decoder;
use crate::args::Args;
use crate::failure::Failure;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) decoder: Decoder,
    pub(super) prints: bool,
    pub(super) deep: bool,
    pub(super) skips_metadata: bool,
    pub(super) verifies_only: bool,
    pub(super) sanity_only: bool,
    pub(super) max_message_size: u64,
    /// None: all.
    pub(super) max_bytes: Option<u64>,
}

impl Ask {
    pub(super) fn read(args: &Args) -> Result<Ask, Failure> {
        let decoders = [
            "cluster-metadata-decoder",
            "offsets-decoder",
            "transaction-log-decoder",
            "share-group-state-decoder",
            "remote-log-metadata-decoder",
            "key-decoder-class",
            "value-decoder-class",
        ];
        let prints = args.has("print-data-log") || decoders.iter().any(|name| args.has(name));
        let max_bytes: Option<i32> = args.number("max-bytes")?;
        let max_message_size: Option<i32> = args.number("max-message-size")?;
        Ok(Ask {
            decoder: Decoder::of(args)?,
            prints,
            deep: prints || args.has("deep-iteration"),
            skips_metadata: args.has("skip-record-metadata"),
            verifies_only: args.has("verify-index-only"),
            sanity_only: args.has("index-sanity-check"),
            max_message_size: max_message_size
                .map_or(5 << 20, |it| it.max(0).unsigned_abs().into()),
            max_bytes: max_bytes
                .filter(|it| *it != i32::MAX)
                .map(|it| it.max(0).unsigned_abs().into()),
        })
    }
}
