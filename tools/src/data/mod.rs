//! Records in and out of a cluster, over librdkafka: the one folder that names it.

pub(crate) mod consumer;
pub(crate) mod handed;
pub(crate) mod producer;
mod reason;
pub(crate) mod settings;
pub(crate) mod voice;
