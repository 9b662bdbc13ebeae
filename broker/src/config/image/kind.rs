//! The images whose place is taken, and their names.

/// An image whose place is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    ApacheKafka,
    CpKafka,
    ConfluentLocal,
    Bitnami,
    Wurstmeister,
}

impl Image {
    pub const ALL: [Image; 5] = [
        Image::ApacheKafka,
        Image::CpKafka,
        Image::ConfluentLocal,
        Image::Bitnami,
        Image::Wurstmeister,
    ];

    /// As `--image` has it.
    pub fn name(self) -> &'static str {
        match self {
            Image::ApacheKafka => "apache-kafka",
            Image::CpKafka => "cp-kafka",
            Image::ConfluentLocal => "confluent-local",
            Image::Bitnami => "bitnami",
            Image::Wurstmeister => "wurstmeister",
        }
    }

    /// The image of this name, which may also be what stands behind `image:` in a Compose file.
    pub fn find(name: &str) -> Option<Image> {
        let path = name.split('@').next().unwrap_or(name);
        // A colon before the last slash is that of a port.
        let path = match path.rsplit_once(':') {
            Some((path, tag)) if !tag.contains('/') => path,
            Some(_) | None => path,
        };
        let mut parts = path.rsplit('/');
        let (last, owner) = (parts.next()?, parts.next().unwrap_or_default());
        let known = match (owner, last) {
            ("apache", "kafka" | "kafka-native") | (_, "apache-kafka" | "kafka-native") => {
                Image::ApacheKafka
            }
            (_, "cp-kafka" | "cp-server" | "cp-enterprise-kafka") => Image::CpKafka,
            (_, "confluent-local") => Image::ConfluentLocal,
            ("bitnami" | "bitnamilegacy" | "soldevelo", "kafka")
            | (_, "bitnami" | "bitnamilegacy" | "soldevelo") => Image::Bitnami,
            ("wurstmeister", "kafka") | (_, "wurstmeister") => Image::Wurstmeister,
            _ => return None,
        };
        Some(known)
    }
}
