//! A frame: what stands around the body of a request or of a response.

mod header;
pub(super) mod malformed;
pub(super) mod peer;
pub(super) mod rope;

pub use header::Header;
pub use malformed::Malformed;
pub use rope::{HOLE_MAX, Part, hole};
