//! Config keys of authentication by SASL, of authorization, and of delegation tokens.

use super::key::Family::{Listener, Mechanism};
use super::key::Importance::{High, Low};
use super::key::Scope::PerBroker;
use super::key::Valid::{AtLeast, Between, OneOfAnyCase};
use super::key::{Invalid, Key, Lookup};
use super::typed::{Class, Password, config_keys, inert_keys};

inert_keys! {
    /// How clients and brokers prove who they are.
    SASL {
        /// Milliseconds by which the answer to a failed authentication is held back.
        i32 = "connection.failed.authentication.delay.ms" {
            default: Some("100"), valid: AtLeast(0.0), importance: Low,
        }
        /// Milliseconds after which a client must authenticate anew; 0 never.
        i64 = "connections.max.reauth.ms" { default: Some("0"), family: Some(Mechanism), }
        /// The Java class that makes a user of what a connection proved.
        Class = "principal.builder.class" {
            default: Some("org.apache.kafka.common.security.authenticator.\
                DefaultKafkaPrincipalBuilder"),
            scope: PerBroker, family: Some(Listener),
        }
        /// The Java class that answers for a client's credentials.
        Option<Class> = "sasl.client.callback.handler.class" {}
        /// The SASL mechanisms that a listener offers.
        Vec<String> = "sasl.enabled.mechanisms" {
            default: Some("GSSAPI"), scope: PerBroker, family: Some(Listener),
        }
        /// Login module and credentials of one SASL mechanism.
        Option<Password> = "sasl.jaas.config" { scope: PerBroker, family: Some(Mechanism), }
        /// The path of Kerberos' kinit.
        String = "sasl.kerberos.kinit.cmd" {
            default: Some("/usr/bin/kinit"), scope: PerBroker, family: Some(Listener),
        }
        /// Milliseconds between two looks at a Kerberos ticket.
        i64 = "sasl.kerberos.min.time.before.relogin" {
            default: Some("60000"), scope: PerBroker, family: Some(Listener),
        }
        /// How Kerberos principals become users; the first rule that fits counts.
        Vec<String> = "sasl.kerberos.principal.to.local.rules" {
            default: Some("DEFAULT"), scope: PerBroker, family: Some(Listener),
        }
        /// The Kerberos name that brokers run under.
        Option<String> = "sasl.kerberos.service.name" { scope: PerBroker, family: Some(Listener), }
        /// Share by which the time of a ticket's renewal varies at random.
        f64 = "sasl.kerberos.ticket.renew.jitter" {
            default: Some("0.05"), scope: PerBroker, family: Some(Listener),
        }
        /// Share of a ticket's life after which it is renewed.
        f64 = "sasl.kerberos.ticket.renew.window.factor" {
            default: Some("0.8"), scope: PerBroker, family: Some(Listener),
        }
        /// The Java class that answers for a login's credentials.
        Option<Class> = "sasl.login.callback.handler.class" { family: Some(Mechanism), }
        /// The Java class that logs in.
        Option<Class> = "sasl.login.class" { family: Some(Mechanism), }
        /// Milliseconds that connecting to the token provider may take.
        Option<i32> = "sasl.login.connect.timeout.ms" { importance: Low, }
        /// Milliseconds that the token provider's answer may take.
        Option<i32> = "sasl.login.read.timeout.ms" { importance: Low, }
        /// Seconds before its end at which a credential must be fresh.
        i16 = "sasl.login.refresh.buffer.seconds" {
            default: Some("300"), scope: PerBroker, family: Some(Listener),
        }
        /// Seconds that a login waits at least before it refreshes a credential.
        i16 = "sasl.login.refresh.min.period.seconds" {
            default: Some("60"), scope: PerBroker, family: Some(Listener),
        }
        /// Share of a credential's life after which it is refreshed.
        f64 = "sasl.login.refresh.window.factor" {
            default: Some("0.8"), scope: PerBroker, family: Some(Listener),
        }
        /// Share by which the time of that refresh varies at random.
        f64 = "sasl.login.refresh.window.jitter" {
            default: Some("0.05"), scope: PerBroker, family: Some(Listener),
        }
        /// The longest pause, in milliseconds, between two attempts to log in.
        i64 = "sasl.login.retry.backoff.max.ms" { default: Some("10000"), importance: Low, }
        /// The first pause, in milliseconds, between two attempts to log in.
        i64 = "sasl.login.retry.backoff.ms" { default: Some("100"), importance: Low, }
        /// The SASL mechanism between nodes and controllers.
        String = "sasl.mechanism.controller.protocol" { default: Some("GSSAPI"), importance: High, }
        /// The SASL mechanism among brokers.
        String = "sasl.mechanism.inter.broker.protocol" {
            default: Some("GSSAPI"), scope: PerBroker, family: Some(Listener),
        }
        /// The Java class that judges a mechanism's credentials.
        Option<Class> = "sasl.server.callback.handler.class" { family: Some(Mechanism), }
    }
}

inert_keys! {
    /// How bearer tokens are fetched and judged.
    OAUTH {
        /// Whether a token without the expected audience is taken.
        bool = "sasl.oauthbearer.allow.unverified.audience" { default: Some("false"), }
        /// Whether a token without the expected issuer is taken.
        bool = "sasl.oauthbearer.allow.unverified.issuer" { default: Some("false"), }
        /// How an assertion is signed.
        String = "sasl.oauthbearer.assertion.algorithm" {
            default: Some("RS256"), valid: OneOfAnyCase(&["ES256", "RS256"]),
        }
        /// The audience that an assertion names.
        Option<String> = "sasl.oauthbearer.assertion.claim.aud" {}
        /// Seconds that an assertion is valid.
        i32 = "sasl.oauthbearer.assertion.claim.exp.seconds" {
            default: Some("300"), valid: Between(0.0, 86400.0), importance: Low,
        }
        /// The issuer that an assertion names.
        Option<String> = "sasl.oauthbearer.assertion.claim.iss" {}
        /// Whether an assertion bears an id of its own.
        bool = "sasl.oauthbearer.assertion.claim.jti.include" { default: Some("false"), }
        /// Seconds by which an assertion's validity begins before now.
        i32 = "sasl.oauthbearer.assertion.claim.nbf.seconds" {
            default: Some("60"), valid: Between(0.0, 3600.0), importance: Low,
        }
        /// The subject that an assertion names.
        Option<String> = "sasl.oauthbearer.assertion.claim.sub" {}
        /// A file that holds a ready assertion.
        Option<String> = "sasl.oauthbearer.assertion.file" {}
        /// The file of the key that signs assertions.
        Option<String> = "sasl.oauthbearer.assertion.private.key.file" {}
        /// Opens the key that signs assertions.
        Option<Password> = "sasl.oauthbearer.assertion.private.key.passphrase" {}
        /// A file of claims that every assertion takes over.
        Option<String> = "sasl.oauthbearer.assertion.template.file" {}
        /// The client id shown to the token provider.
        Option<String> = "sasl.oauthbearer.client.credentials.client.id" {}
        /// The secret shown to the token provider.
        Option<Password> = "sasl.oauthbearer.client.credentials.client.secret" {}
        /// Seconds by which the token provider's clock may differ.
        i32 = "sasl.oauthbearer.clock.skew.seconds" { default: Some("30"), importance: Low, }
        /// The audiences of which a token must name one.
        Vec<String> = "sasl.oauthbearer.expected.audience" { default: Some(""), importance: High, }
        /// The issuer that a token must name.
        Option<String> = "sasl.oauthbearer.expected.issuer" { importance: High, }
        /// Milliseconds after which the provider's keys are fetched anew.
        i64 = "sasl.oauthbearer.jwks.endpoint.refresh.ms" {
            default: Some("3600000"), importance: Low,
        }
        /// The longest pause, in milliseconds, between two attempts to fetch those keys.
        i64 = "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms" {
            default: Some("10000"), importance: Low,
        }
        /// The first pause, in milliseconds, between two attempts to fetch those keys.
        i64 = "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms" {
            default: Some("100"), importance: Low,
        }
        /// Where the provider's keys are fetched.
        Option<String> = "sasl.oauthbearer.jwks.endpoint.url" {}
        /// The Java class that fetches tokens.
        Class = "sasl.oauthbearer.jwt.retriever.class" {
            default: Some("org.apache.kafka.common.security.oauthbearer.\
                DefaultJwtRetriever"),
        }
        /// The Java class that judges tokens.
        Class = "sasl.oauthbearer.jwt.validator.class" {
            default: Some("org.apache.kafka.common.security.oauthbearer.\
                DefaultJwtValidator"),
        }
        /// The scope asked of the token provider.
        Option<String> = "sasl.oauthbearer.scope" {}
        /// The claim that holds a token's scope.
        String = "sasl.oauthbearer.scope.claim.name" { default: Some("scope"), importance: Low, }
        /// The claim that holds a token's subject.
        String = "sasl.oauthbearer.sub.claim.name" { default: Some("sub"), importance: Low, }
        /// Where tokens are fetched.
        Option<String> = "sasl.oauthbearer.token.endpoint.url" {}
    }
}

inert_keys! {
    /// Who may do what, and tokens that speak for a user.
    AUTHORITY {
        /// Milliseconds between two looks for delegation tokens that have expired.
        i64 = "delegation.token.expiry.check.interval.ms" {
            default: Some("3600000"), valid: AtLeast(1.0), importance: Low,
        }
        /// Milliseconds that a delegation token lives before it must be renewed.
        i64 = "delegation.token.expiry.time.ms" { default: Some("86400000"), valid: AtLeast(1.0), }
        /// Milliseconds after which a delegation token cannot be renewed.
        i64 = "delegation.token.max.lifetime.ms" {
            default: Some("604800000"), valid: AtLeast(1.0),
        }
        /// The secret that delegation tokens are made with.
        Option<Password> = "delegation.token.secret.key" {}
        /// Java classes that add security providers.
        Option<String> = "security.providers" { importance: Low, }
    }
}

config_keys! {
    /// Who decides what each user may do.
    AuthorizerConfig {
        /// The Java class that decides what each user may do; empty allows all. There is none here
        /// so far, and a broker that is told of one does not start.
        class_name: String = "authorizer.class.name" { default: Some(""), importance: Low, }
    }
}
