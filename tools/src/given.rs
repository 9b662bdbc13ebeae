//! Settings that come as `name=value` arguments and files, by their old flags and their new ones.

use crate::args::Args;
use crate::failure::Failure;
use crate::output::complain;
use crate::properties::{self, Properties};
use kraft::env::Env;

/// A flag that Kafka has renamed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renamed {
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
}

impl Renamed {
    /// The values under either name; of both at once there can be none. The old one is told of: on
    /// standard error, so that records and results stand alone on standard output.
    pub(crate) fn values<'a>(&self, args: &'a Args) -> Result<Vec<&'a str>, Failure> {
        let Renamed { old, new } = self;
        match (args.has(old), args.has(new)) {
            (true, true) => Err(Failure::usage(format_args!(
                "Options --{old} and --{new} cannot be specified together."
            ))),
            (true, false) => {
                complain(&format!(
                    "Option --{old} is deprecated and will be removed in a future version. Use \
                     --{new} instead."
                ));
                Ok(args.all(old))
            }
            (false, _) => Ok(args.all(new)),
        }
    }
}

/// The properties of a client: a file, and single ones that win.
pub(crate) fn client(
    env: &Env,
    args: &Args,
    file: Renamed,
    single: Renamed,
) -> Result<Properties, Failure> {
    let file = file.values(args)?.first().copied();
    properties::read(env, file, &single.values(args)?)
}

/// Properties of what reads lines or prints records, whose values are kept to the blank: a
/// separator may be one.
pub(crate) fn exact(env: &Env, file: Option<&str>, single: &[&str]) -> Result<Properties, Failure> {
    let mut found =
        file.map_or_else(|| Ok(Properties::new()), |file| properties::read_exact(env, file))?;
    for text in single {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        found.insert(name.to_owned(), value.to_owned());
    }
    Ok(found)
}

/// Whether a property is `true`.
pub(crate) fn is_true(properties: &Properties, name: &str) -> bool {
    properties.get(name).is_some_and(|it| it.trim().eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::os;
    use std::path::Path;
    use storage::disk::replace;

    #[test]
    fn a_value_keeps_its_blanks_as_in_java() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("formatter.properties").display().to_string();
        let env = os::env();
        let text = b"key.separator = -> \nline.separator=\\n \t\nheaders.separator=\\ \n\
                     null.literal:\\u0020none\\t\nprint.key  true \nempty =\n\
                     long=one \\\n   two \\\r\n\ttre \n! no=1\n # no=2\nnone\n";
        replace(&*env.disk, Path::new(&path), text).unwrap();
        let found = exact(&env, Some(&path), &["given= x "]).unwrap();
        for (name, want) in [
            ("key.separator", "-> "),
            ("line.separator", "\n \t"),
            ("headers.separator", " "),
            ("null.literal", " none\t"),
            ("print.key", "true "),
            ("empty", ""),
            ("long", "one two tre "),
            ("none", ""),
            ("given", " x "),
        ] {
            assert_eq!(found.get(name).map(String::as_str), Some(want), "{name}");
        }
        assert_eq!(found.len(), 9, "{found:?}");
        assert!(is_true(&found, "print.key"));
        // A setting of a client has none.
        let settings = properties::read(&env, Some(&path), &[]).unwrap();
        assert_eq!(settings.get("key.separator").map(String::as_str), Some("->"));
    }
}
