//! `${provider:path:key}` in a value: what Apache Kafka's config providers (KIP-297) put in its place.

use super::given::{Given, Refused};
use protocol::config::key::Invalid;
use protocol::config::start::StartConfig;
use protocol::config::typed::items;
use protocol::config::{BROKER, find};
use regex::Regex;
use std::collections::BTreeMap;
use std::path::Path;
use storage::properties;

/// What the keys of one provider begin with, before its name.
pub(super) const PREFIX: &str = "config.providers.";

/// Where a provider finds its values.
#[derive(Clone, Copy)]
pub(super) struct Outside<'a> {
    /// What a variable of the environment says.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The bytes of the file at a path.
    pub(super) read: &'a dyn Fn(&Path) -> Result<Vec<u8>, Refused>,
}

/// A provider: its class in Apache Kafka, and what limits it.
enum Provider {
    /// `EnvVarConfigProvider`: `${name:VARIABLE}`, of those whose whole name matches.
    Variables(Option<Regex>),
    /// `FileConfigProvider`: `${name:file:key}`, of a properties file.
    Properties(Allowed),
    /// `DirectoryConfigProvider`: `${name:directory:file}`, the whole of a file.
    Files(Allowed),
}

/// Paths below which a provider may look; none: everywhere.
struct Allowed(Vec<String>);

impl Allowed {
    fn check(&self, path: &Path) -> Result<(), String> {
        let is_below = |top: &String| path.starts_with(top);
        let climbs = path.components().any(|it| it == std::path::Component::ParentDir);
        if self.0.is_empty() || (!climbs && self.0.iter().any(is_below)) {
            return Ok(());
        }
        Err(format!("{} is in none of allowed.paths", path.display()))
    }
}

/// Puts in the place of each `${provider:path:key}` what the provider says. Where nobody calls a
/// provider by that name, the text stays as it is.
///
/// # Errors
/// A provider is not known here, or has no such value: the text itself is what nobody means.
pub(super) fn resolve(given: &mut Given, outside: Outside<'_>) -> Result<(), Refused> {
    let providers = providers(given).map_err(|invalid| given.refuse(invalid))?;
    if providers.is_empty() {
        return Ok(());
    }
    let mut changed = Vec::new();
    for (name, value) in given.settings() {
        let replaced = replaced(value, &providers, outside).map_err(|why| {
            given.refuse(match find(BROKER, name) {
                Some(key) => Invalid { key: name.clone(), ..key.invalid(value, &why) },
                None => Invalid { key: name.clone(), value: value.clone(), why },
            })
        })?;
        if replaced != *value {
            changed.push((name.clone(), replaced));
        }
    }
    changed.into_iter().for_each(|(name, value)| given.change(&name, &value));
    Ok(())
}

fn providers(given: &Given) -> Result<BTreeMap<String, Provider>, Invalid> {
    let mut found = BTreeMap::new();
    for name in items(given.get(StartConfig::config_providers().name).unwrap_or_default()) {
        let key = format!("{PREFIX}{name}.class");
        // As Apache Kafka, which passes over a provider without a class.
        let Some(class) = given.get(&key).map(str::trim) else { continue };
        let param = |name_of: &str| given.get(&format!("{PREFIX}{name}.param.{name_of}"));
        let allowed = || {
            let paths = items(param("allowed.paths").unwrap_or_default());
            Allowed(paths.map(str::to_owned).collect())
        };
        let provider = match class.rsplit('.').next().unwrap_or(class) {
            "EnvVarConfigProvider" => Provider::Variables(pattern(name, param)?),
            "FileConfigProvider" => Provider::Properties(allowed()),
            "DirectoryConfigProvider" => Provider::Files(allowed()),
            _ => {
                let why = "there is no Java here to load it: EnvVarConfigProvider, \
                           FileConfigProvider and DirectoryConfigProvider of Apache Kafka are known";
                let (value, why) = (class.to_owned(), why.to_owned());
                return Err(Invalid { key, value, why });
            }
        };
        found.insert(name.to_owned(), provider);
    }
    Ok(found)
}

fn pattern<'a>(
    name: &str,
    param: impl Fn(&str) -> Option<&'a str>,
) -> Result<Option<Regex>, Invalid> {
    let of = "allowlist.pattern";
    let Some(text) = param(of) else { return Ok(None) };
    Regex::new(&format!("^(?:{})$", text.trim())).map(Some).map_err(|error| Invalid {
        key: format!("{PREFIX}{name}.param.{of}"),
        value: text.to_owned(),
        why: format!("is no pattern that is known here: {error}").replace('\n', " "),
    })
}

/// `text` with what its providers say.
fn replaced(
    text: &str,
    providers: &BTreeMap<String, Provider>,
    outside: Outside<'_>,
) -> Result<String, String> {
    let (mut done, mut left) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = left.split_once("${") {
        done.push_str(before);
        let named = behind.split_once('}').and_then(|(inside, rest)| {
            let (name, what) = inside.split_once(':')?;
            Some((providers.get(name)?, what, rest))
        });
        left = match named {
            Some((provider, what, rest)) => {
                let (path, key) = what.split_once(':').unwrap_or(("", what));
                done.push_str(&provider.value(path, key, outside)?);
                rest
            }
            None => {
                done.push_str("${");
                behind
            }
        };
    }
    done.push_str(left);
    Ok(done)
}

impl Provider {
    fn value(&self, path: &str, key: &str, outside: Outside<'_>) -> Result<String, String> {
        let path = Path::new(path);
        let read = |allowed: &Allowed, path: &Path| {
            allowed.check(path)?;
            (outside.read)(path).map_err(|refused| refused.to_string())
        };
        match self {
            Provider::Variables(Some(pattern)) if !pattern.is_match(key) => {
                Err(format!("{key} does not match allowlist.pattern"))
            }
            Provider::Variables(_) => {
                (outside.variable)(key).ok_or_else(|| format!("the environment has no {key}"))
            }
            Provider::Properties(allowed) => {
                let found = properties::parse(&read(allowed, path)?);
                let found =
                    found.map_err(|bad| format!("{}:{}: {}", path.display(), bad.line, bad.why))?;
                let last = found.into_iter().rev().find(|it| it.name == key);
                last.map(|it| it.value).ok_or_else(|| format!("{} has no {key}", path.display()))
            }
            Provider::Files(_) if key.contains('/') => Err(format!("{key} is no name of a file")),
            Provider::Files(allowed) => {
                let bytes = read(allowed, &path.join(key))?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: &str = "config.providers=env, file,dir,none\n\
        config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n\
        config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n\
        config.providers.dir.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider\n";

    fn resolved(text: &str) -> Result<Given, String> {
        let mut given = Given::parse("f", text.as_bytes()).unwrap();
        let outside = Outside {
            variable: &|name| (name == "A").then(|| "1".to_owned()),
            read: &|path| match path.to_str() {
                Some("/p") => Ok(b"k=old\nk = new\nlong.name=x".to_vec()),
                Some("/d/f") => Ok(b"whole\n".to_vec()),
                _ => Err(Refused::Unreadable {
                    file: path.display().to_string(),
                    why: "not there".to_owned(),
                }),
            },
        };
        resolve(&mut given, outside).map_err(|refused| refused.to_string())?;
        Ok(given)
    }

    #[track_caller]
    fn check(value: &str, want: Result<&str, &str>) {
        let given = resolved(&format!("{CLASSES}a={value}"));
        let got = given.as_ref().map(|given| given.get("a").unwrap_or_default());
        assert_eq!(got.map_err(String::as_str), want, "{value}");
    }

    #[test]
    fn a_value_is_what_its_provider_says() {
        check("${env:A}", Ok("1"));
        check("x${env:A}y${file:/p:k}${file:/p:long.name}", Ok("x1ynewx"));
        check("${dir:/d:f}", Ok("whole\n"));
        check("${other:A} ${env} ${ $", Ok("${other:A} ${env} ${ $"));
        check("${env:B}", Err("f:5: a=${env:B}: the environment has no B"));
        check("${file:/p:j}", Err("f:5: a=${file:/p:j}: /p has no j"));
        check("${file:/q:j}", Err("f:5: a=${file:/q:j}: cannot read /q: not there"));
        check("${dir:/d:../p}", Err("f:5: a=${dir:/d:../p}: ../p is no name of a file"));
        let bare = resolved("a=${env:A}").unwrap();
        assert_eq!(bare.get("a"), Some("${env:A}"));
    }

    #[test]
    fn a_provider_is_kept_to_what_it_may() {
        let limited = |more: &str, value: &str| {
            resolved(&format!("{CLASSES}config.providers.{more}\na={value}")).map(drop)
        };
        assert_eq!(limited("env.param.allowlist.pattern=A|B", "${env:A}"), Ok(()));
        assert!(limited("env.param.allowlist.pattern=AA", "${env:A}").is_err());
        assert_eq!(limited("file.param.allowed.paths=/x,/p", "${file:/p:k}"), Ok(()));
        assert!(limited("file.param.allowed.paths=/pp", "${file:/p:k}").is_err());
        assert!(limited("file.param.allowed.paths=/x", "${file:/x/../p:k}").is_err());
    }

    #[test]
    fn a_secret_is_not_told() {
        let why = resolved(&format!("{CLASSES}ssl.key.password=x${{env:B}}")).unwrap_err();
        assert_eq!(why, "f:5: ssl.key.password=[hidden]: the environment has no B");
    }

    #[test]
    fn a_class_that_is_not_known_is_refused_where_it_stands() {
        let why = resolved("config.providers=v\nconfig.providers.v.class=com.example.Vault");
        let why = why.unwrap_err();
        assert!(
            why.starts_with("f:2: config.providers.v.class=com.example.Vault: there is no"),
            "{why}"
        );
    }
}
