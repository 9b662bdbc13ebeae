//! The admin port: health, metrics and what people look at, by HTTP/1.1. Nothing here changes
//! anything.
//!
//! It opens before the logs do, so that whoever waits for the broker is told what it is doing, and
//! closes after the last client. A request goes through `guard` (who may call it) and `route` (which
//! page), and leaves as a `body`.

mod body;
mod census;
mod desk;
mod exposition;
mod guard;
mod health;
mod page;
mod port;
mod readings;
mod route;
mod stream;
mod ticking;
mod web;

pub use port::Admin;
