//! Passwords of users by SCRAM (KIP-554): whoever sets one sends its salted hash, not the password.

use super::change::Change;
use super::refusal::refusal;
use crate::admin::text;
use crate::client::{Client, Refused, To};
use crate::failure::Failure;
use crate::output::Output;
use bytes::Bytes;
use kraft::env::{Env, Rng};
use pbkdf2::pbkdf2_hmac_array;
use protocol::error::ErrorCode;
use protocol::messages::alter_user_scram_credentials_request::{
    ScramCredentialDeletion, ScramCredentialUpsertion,
};
use protocol::messages::describe_user_scram_credentials_request::UserName;
use protocol::messages::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse,
};
use sha2::{Sha256, Sha512};

/// The mechanisms by Kafka's numbers.
const SHA_256: i8 = 1;
const SHA_512: i8 = 2;
const MECHANISMS: [(&str, i8); 2] = [("SCRAM-SHA-256", SHA_256), ("SCRAM-SHA-512", SHA_512)];

/// The fewest rounds of hashing that Kafka takes, which are also those that count where none are
/// named.
const ITERATIONS: i32 = 4096;

fn number(mechanism: &str) -> Option<i8> {
    MECHANISMS.iter().find(|(name, _)| *name == mechanism).map(|(_, number)| *number)
}

/// Whether a config is a password.
pub(super) fn is_mechanism(name: &str) -> bool {
    number(name).is_some()
}

/// Tells of the passwords of a user, or of all users, what may be told.
pub(super) async fn describe(
    user: Option<&str>,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let users = user.map(|user| vec![UserName::default().with_name(text(user))]);
    let request = DescribeUserScramCredentialsRequest::default().with_users(users);
    let judge = |answer: &DescribeUserScramCredentialsResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())
    };
    let answer = client.ask_until(client.fit(To::Anyone), &request, judge).await;
    for user in answer.map_err(refusal)?.results {
        // Who has no password is nobody here.
        if user.error_code == ErrorCode::ResourceNotFound.code() {
            continue;
        }
        Refused::check(user.error_code, user.error_message.as_deref()).map_err(refusal)?;
        let each = user.credential_infos.iter().map(|it| {
            let known = MECHANISMS.iter().find(|(_, number)| *number == it.mechanism);
            let name = known.map_or("UNKNOWN", |(name, _)| name);
            format!("{name}=iterations={}", it.iterations)
        });
        output.line(format_args!(
            "SCRAM credential configs for user-principal '{}' are {}",
            user.user.as_str(),
            each.collect::<Vec<_>>().join(", ")
        ))?;
    }
    Ok(())
}

pub(super) async fn alter(
    user: &str,
    change: &Change,
    client: &mut Client,
    env: &Env,
) -> Result<(), Failure> {
    let mut set = Vec::new();
    for (name, value) in &change.set {
        let password = Password::read(name, value)?;
        set.push(password.salted(user, &salt(&*env.rng)));
    }
    let unset = change.unset.iter().filter_map(|name| number(name)).map(|mechanism| {
        ScramCredentialDeletion::default().with_name(text(user)).with_mechanism(mechanism)
    });
    let request = AlterUserScramCredentialsRequest::default()
        .with_deletions(unset.collect())
        .with_upsertions(set);
    let judge = |answer: &AlterUserScramCredentialsResponse| {
        let mut results = answer.results.iter();
        results.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let to = client.fit(To::Controller);
    client.ask_until(to, &request, judge).await.map(drop).map_err(refusal)
}

/// Bytes that nobody has had before.
fn salt(rng: &dyn Rng) -> Vec<u8> {
    (0..4).flat_map(|_| rng.next_u64().to_be_bytes()).collect()
}

/// `iterations=8192,password=secret`
#[derive(Debug, PartialEq, Eq)]
struct Password<'a> {
    mechanism: i8,
    iterations: i32,
    password: &'a str,
}

impl Password<'_> {
    fn read<'a>(mechanism: &str, value: &'a str) -> Result<Password<'a>, Failure> {
        let invalid = || {
            let name = mechanism.replace('-', "_");
            Failure::told(format_args!("Invalid credential property {name}={value}"))
        };
        let (iterations, rest) = match value.strip_prefix("iterations=") {
            Some(rest) => {
                let (count, rest) = rest.split_once(',').ok_or_else(invalid)?;
                (count.parse().map_err(|_| invalid())?, rest)
            }
            None => (ITERATIONS, value),
        };
        let password = rest.strip_prefix("password=").ok_or_else(invalid)?;
        let iterations = if iterations == -1 { ITERATIONS } else { iterations };
        if iterations < ITERATIONS {
            return Err(Failure::told(format_args!(
                "Iterations {iterations} is less than the minimum {ITERATIONS} required for \
                 {mechanism}"
            )));
        }
        let mechanism = number(mechanism).ok_or_else(invalid)?;
        Ok(Password { mechanism, iterations, password })
    }

    /// `Hi(password, salt, iterations)` of RFC 5802.
    fn salted(&self, user: &str, salt: &[u8]) -> ScramCredentialUpsertion {
        let (password, rounds) = (self.password.as_bytes(), self.iterations.unsigned_abs());
        let salted = if self.mechanism == SHA_256 {
            pbkdf2_hmac_array::<Sha256, 32>(password, salt, rounds).to_vec()
        } else {
            pbkdf2_hmac_array::<Sha512, 64>(password, salt, rounds).to_vec()
        };
        ScramCredentialUpsertion::default()
            .with_name(text(user))
            .with_mechanism(self.mechanism)
            .with_iterations(self.iterations)
            .with_salt(Bytes::copy_from_slice(salt))
            .with_salted_password(salted.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_may_say_how_often_it_is_hashed() {
        let read =
            |value| Password::read("SCRAM-SHA-512", value).map(|it| (it.iterations, it.password));
        assert_eq!(read("password=a=b,c"), Ok((4096, "a=b,c")));
        assert_eq!(read("iterations=8192,password=x"), Ok((8192, "x")));
        assert_eq!(read("iterations=-1,password=x"), Ok((4096, "x")));
        for wrong in ["iterations=8192", "iterations=x,password=y", "x", "iterations=1,password=y"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_salted_as_rfc_7677_has_it() {
        // Its example: the client's proof cannot be made without this hash.
        let password = Password { mechanism: SHA_256, iterations: 4096, password: "pencil" };
        let salt = [
            0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e, 0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36,
            0xfa, 0x81,
        ];
        let sent = password.salted("user", &salt);
        let hex: String = sent.salted_password.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "c4a49510323ab4f952cac1fa99441939e78ea74d6be81ddf7096e87513dc615d");
        assert_eq!((sent.iterations, &sent.salt[..]), (4096, &salt[..]));
    }
}
