//! A broker from its start to its stop.

pub mod log_lines;
