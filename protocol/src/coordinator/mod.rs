//! Records of the coordinators' internal topics.

pub mod group;
