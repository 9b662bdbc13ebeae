//! Where a setting stands.

use std::fmt;

/// Who said a value. What nobody said has the default of its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody gave a file, and so it runs by itself.
    Standalone,
    /// The image of this name says it where nobody else does.
    Image {
        name: &'static str,
    },
    File {
        name: String,
        line: usize,
    },
    /// An environment variable, by its name.
    Environment {
        name: String,
    },
    Override,
    /// Nobody says it; it follows from what was said of this.
    Derived {
        from: &'static str,
    },
}

impl Origin {
    /// Whether a person said it, for this broker.
    pub fn is_said(&self) -> bool {
        match self {
            Origin::Standalone | Origin::Image { .. } | Origin::Derived { .. } => false,
            Origin::File { .. } | Origin::Environment { .. } | Origin::Override => true,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Standalone => write!(f, "without a file"),
            Origin::Image { name } => write!(f, "default of {name}"),
            Origin::File { name, line } => write!(f, "{name}:{line}"),
            Origin::Environment { name } => f.write_str(name),
            Origin::Override => write!(f, "--override"),
            Origin::Derived { from } => write!(f, "from {from}"),
        }
    }
}
