//! The admin port, over sockets.

mod health;
mod hostile;
mod http;
mod metrics;
mod pages;
mod web;
