//! The conventions by which container images of Apache Kafka read their environment.

mod apache;
mod bitnami;
mod confluent;
mod create_topics;
pub mod data_dir;
mod defaults;
pub mod env_file;
pub mod environment;
mod files;
mod interpolate;
mod kind;
mod names;
mod said;
mod wurstmeister;

pub use data_dir::Mounts;
pub use environment::Environment;
pub use kind::Image;
pub use said::{Said, Void};

use crate::config::given::Given;

/// What surrounds a start: what only the machine knows.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Around<'a> {
    pub hostname: &'a str,
    pub mounts: &'a Mounts,
    /// What the file at a path holds; the error says why not.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
    /// What a shell prints for a line; None where it may not run, or failed.
    pub run: &'a dyn Fn(&str) -> Option<String>,
}

impl Image {
    /// What the image makes of an environment, alone.
    pub fn read(self, env: &Environment) -> Said {
        match self {
            Image::ApacheKafka => apache::read(env),
            Image::CpKafka | Image::ConfluentLocal => confluent::read(env),
            Image::Bitnami => bitnami::read(env),
            Image::Wurstmeister => wurstmeister::read(env),
        }
    }

    /// Says over `given` what stands in the environment, and below it what the image says itself.
    pub(super) fn apply(self, given: &mut Given, env: Environment, around: Around<'_>) {
        let (env, notes) = match self {
            Image::Bitnami => files::with_files(env, around.read),
            Image::Wurstmeister => wurstmeister::with_commands(env, around.run),
            Image::ApacheKafka | Image::CpKafka | Image::ConfluentLocal => (env, Vec::new()),
        };
        notes.into_iter().for_each(|note| given.note(note));
        self.read(&env).say_over(given);
    }

    /// Lays the image's own defaults below all that was said.
    pub(super) fn lay_below(self, given: &mut Given, around: Around<'_>) {
        defaults::lay_below(given, self, around.hostname, around.mounts);
    }
}

#[cfg(test)]
mod tests;
