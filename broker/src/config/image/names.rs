//! From the name of a variable to the key that it means.

/// Dots for underscores; three make a dash, two an underscore. Letters become small, and whatever
/// else stands in the name stays.
pub(super) fn escaped(name: &str) -> String {
    plain(name).replace("...", "-").replace("..", "_")
}

/// Dots for underscores, and nothing else.
pub(super) fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_are_dots_dashes_and_underscores() {
        for (name, want) in [
            ("LOG_DIRS", "log.dirs"),
            ("A___B__C_D", "a-b_c.d"),
            ("LISTENER_NAME_SASL__SSL_SCRAM___SHA___256_SASL_JAAS_CONFIG", {
                "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config"
            }),
            ("LISTENER_NAME_X_SCRAM-SHA-256_SASL_JAAS_CONFIG", {
                "listener.name.x.scram-sha-256.sasl.jaas.config"
            }),
            ("A____B", "a-.b"),
        ] {
            assert_eq!(escaped(name), want);
        }
        assert_eq!(plain("A__B_C.D"), "a..b.c.d");
    }
}
