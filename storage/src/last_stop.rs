//! What a start can rely on.

/// How whoever wrote to a log directory last came to its end, which says what may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastStop {
    /// All was closed and synced: what stands there is trusted.
    Clean,
    /// Only the process ended: the kernel holds all that was written. At most a last write of each
    /// log is torn, and what was in the process's memory is lost.
    Killed,
    /// The machine, perhaps: what was not synced is there, or not, or torn.
    Crashed,
}
