//! The admin port, over sockets.

mod full_disk;
mod health;
mod hostile;
mod http;
mod metrics;
mod pages;
mod web;
