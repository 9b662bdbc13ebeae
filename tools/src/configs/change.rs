//! What `kafka-configs --alter` changes.

use crate::args::Args;
use crate::failure::Failure;
use crate::output::Output;
use crate::properties;
use kraft::env::Env;
use std::collections::BTreeMap;

/// What to set and what to take back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) set: Vec<(String, String)>,
    pub(super) unset: Vec<String>,
}

impl Change {
    /// Reads what the arguments ask for.
    ///
    /// # Errors
    /// They ask for nothing, or in a way that makes no sense.
    pub(super) fn read(args: &Args, env: &Env) -> Result<Change, Failure> {
        let file = args.one("add-config-file")?;
        let (given, gone) = (args.one("add-config")?, args.all("delete-config"));
        if file.is_some() && given.is_some() {
            return Err(Failure::told(
                "Only one of --add-config or --add-config-file must be specified",
            ));
        }
        if file.is_none() && given.is_none() && gone.is_empty() {
            return Err(Failure::told(
                "At least one of --add-config, --add-config-file, or --delete-config must be \
                 specified with --alter",
            ));
        }
        let mut set = match file {
            Some(file) => properties::read_file(env, file)?,
            None => BTreeMap::new(),
        };
        set.extend(given.map_or_else(|| Ok(Vec::new()), pairs)?);
        let is_name = |it: char| it.is_ascii_alphanumeric() || "$._-".contains(it);
        if let Some(name) = set.keys().find(|name| !name.chars().all(is_name)) {
            return Err(Failure::Told(format!("Invalid character found for config key: {name}")));
        }
        let unset = gone.iter().flat_map(|it| it.split(',')).map(|it| it.trim().to_owned());
        Ok(Change { set: set.into_iter().collect(), unset: unset.collect() })
    }

    /// The names of both.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.set.iter().map(|(name, _)| name).chain(&self.unset).map(String::as_str)
    }
}

/// `k1=v1,k2=[v1,v2]`: a comma within brackets is part of a value.
fn pairs(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let (mut parts, mut depth) = (vec![String::new()], 0_u32);
    for letter in text.chars() {
        match letter {
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    // As Java splits: what is empty at the end is nothing, unless there is nothing else.
    while !text.is_empty() && parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    let pair = |part: &String| {
        // An equals sign in brackets belongs to the value.
        let (name, value) = part.split_once('=')?;
        let is_one = value.starts_with('[') || !value.contains('=');
        let bare = value.replace(['[', ']'], "");
        is_one.then(|| (name.trim().to_owned(), bare.trim().to_owned()))
    };
    parts.iter().map(pair).collect::<Option<Vec<_>>>().ok_or_else(|| {
        Failure::told(
            "Invalid entity config: all configs to be added must be in the format \"key=val\" or  \
             \"key=[val1,val2]\" to group values which contain commas.",
        )
    })
}

/// Of whom configs were changed; without a name, of all of the kind.
pub(super) fn tell_done(kind: &str, name: &str, output: &mut Output) -> Result<(), Failure> {
    output.line(if name.is_empty() {
        format!("Completed updating default config for {kind}s in the cluster.")
    } else {
        format!("Completed updating config for {kind} {name}.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, String)>> {
        pairs(text).ok()
    }

    #[test]
    fn brackets_hold_values_with_commas() {
        let want = |pairs: &[(&str, &str)]| {
            Some(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
        };
        assert_eq!(read("a=1"), want(&[("a", "1")]));
        assert_eq!(read("a=1,b=2"), want(&[("a", "1"), ("b", "2")]));
        assert_eq!(read("a=[1,2],b = x "), want(&[("a", "1,2"), ("b", "x")]));
        assert_eq!(read("a=[x=1,y=2]"), want(&[("a", "x=1,y=2")]));
        assert_eq!(read("a=,b=1,"), want(&[("a", ""), ("b", "1")]));
        for wrong in ["", "a", "a=1,b", "a=1=2", "=,x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
