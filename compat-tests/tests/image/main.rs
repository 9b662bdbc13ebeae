//! The image, started as people start the images whose place it takes. Beside the other tests, since
//! it needs Docker.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stands outside the broker, and stops at the first surprise"
)]

mod client;
mod compose;
mod data;
mod health;
mod homes;
mod modules;
mod networks;
mod no_admin_port;
mod scripts;
mod shape;
mod stage;
mod testcontainers;
