//! The files of the log.
