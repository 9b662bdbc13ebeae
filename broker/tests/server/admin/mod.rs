//! The admin port, over sockets.

mod full_disk;
mod health;
mod hostile;
mod http;
mod metrics;
mod moves;
mod pages;
mod watch;
mod web;
