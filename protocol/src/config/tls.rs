//! Config keys of TLS, which is not served.

use super::key::Family::Listener;
use super::key::Importance::Low;
use super::key::Key;
use super::key::Scope::PerBroker;
use super::key::Valid::OneOf;
use super::typed::{Class, Password, inert_keys};

inert_keys! {
    /// How connections are encrypted, for all listeners or for each.
    TLS {
        /// Whether a new certificate may name another owner than the one it replaces.
        bool = "ssl.allow.dn.changes" { default: Some("false"), importance: Low, }
        /// Whether a new certificate may drop host names of the one it replaces.
        bool = "ssl.allow.san.changes" { default: Some("false"), importance: Low, }
        /// The cipher suites that may be used; empty takes all that are known as safe.
        Vec<String> = "ssl.cipher.suites" {
            default: Some(""), scope: PerBroker, family: Some(Listener),
        }
        /// Whether a TLS client must show a certificate.
        String = "ssl.client.auth" {
            default: Some("none"), valid: OneOf(&["required", "requested", "none"]),
            scope: PerBroker, family: Some(Listener),
        }
        /// The TLS versions that are offered.
        Vec<String> = "ssl.enabled.protocols" {
            default: Some("TLSv1.2,TLSv1.3"), scope: PerBroker, family: Some(Listener),
        }
        /// How a server's certificate is held against its host name; empty does not.
        String = "ssl.endpoint.identification.algorithm" {
            default: Some("https"), scope: PerBroker, importance: Low, family: Some(Listener),
        }
        /// The Java class that makes TLS engines.
        Option<Class> = "ssl.engine.factory.class" {
            scope: PerBroker, importance: Low, family: Some(Listener),
        }
        /// Opens the private key.
        Option<Password> = "ssl.key.password" { scope: PerBroker, family: Some(Listener), }
        /// The Java name of how keys are chosen.
        String = "ssl.keymanager.algorithm" {
            default: Some("SunX509"), scope: PerBroker, family: Some(Listener),
        }
        /// The broker's certificate and those above it, as PEM text.
        Option<Password> = "ssl.keystore.certificate.chain" {
            scope: PerBroker, family: Some(Listener),
        }
        /// The broker's private key, as PEM text.
        Option<Password> = "ssl.keystore.key" { scope: PerBroker, family: Some(Listener), }
        /// The file of the broker's certificate and key.
        Option<String> = "ssl.keystore.location" { scope: PerBroker, family: Some(Listener), }
        /// Opens the store of the broker's certificate.
        Option<Password> = "ssl.keystore.password" { scope: PerBroker, family: Some(Listener), }
        /// The form of the key store: JKS, PKCS12 or PEM.
        String = "ssl.keystore.type" {
            default: Some("JKS"), scope: PerBroker, family: Some(Listener),
        }
        /// How the name in a client's certificate becomes a user.
        String = "ssl.principal.mapping.rules" { default: Some("DEFAULT"), importance: Low, }
        /// The TLS version that engines are made for.
        String = "ssl.protocol" {
            default: Some("TLSv1.3"), scope: PerBroker, family: Some(Listener),
        }
        /// The Java provider of TLS.
        Option<String> = "ssl.provider" { scope: PerBroker, family: Some(Listener), }
        /// The Java name of the random generator.
        Option<String> = "ssl.secure.random.implementation" {
            scope: PerBroker, importance: Low, family: Some(Listener),
        }
        /// The Java name of how certificates are judged.
        String = "ssl.trustmanager.algorithm" {
            default: Some("PKIX"), scope: PerBroker, family: Some(Listener),
        }
        /// The certificates that are trusted, as PEM text.
        Option<Password> = "ssl.truststore.certificates" {
            scope: PerBroker, family: Some(Listener),
        }
        /// The file of the certificates that are trusted.
        Option<String> = "ssl.truststore.location" { scope: PerBroker, family: Some(Listener), }
        /// Opens the store of trusted certificates.
        Option<Password> = "ssl.truststore.password" { scope: PerBroker, family: Some(Listener), }
        /// The form of the trust store: JKS, PKCS12 or PEM.
        String = "ssl.truststore.type" {
            default: Some("JKS"), scope: PerBroker, family: Some(Listener),
        }
    }
}
