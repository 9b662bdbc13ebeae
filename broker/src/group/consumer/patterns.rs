//! Patterns of topics that members subscribe to: RE2 syntax (KIP-848), matched in linear time.
//!
//! Apache Kafka uses re2j. The crate that does it here has the same roots, and what its syntax
//! reads otherwise is rewritten first: `\Q..\E`, and brackets and operators inside classes. What is
//! left of the difference: `\C` is refused, a repetition of a repetition (`a**`) is not, and neither
//! is the flag `x`; `--` inside a class is a difference of sets. A pattern that would need more than
//! [`SIZE_MAX`] bytes of states is refused.

use kraft::image::Image;
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes that one compiled pattern may take, and that matching may keep beside it.
const SIZE_MAX: usize = 1 << 20;

/// Bytes of a pattern, which is a part of its record's key.
const LEN_MAX: usize = 32_767;

/// Whether a pattern can be read; if not, why, for whoever wrote it (INVALID_REGULAR_EXPRESSION).
pub(in crate::group) fn check(pattern: &str) -> Result<(), String> {
    if LEN_MAX < pattern.len() {
        return Err(format!("it has more than {LEN_MAX} bytes"));
    }
    compile(pattern).map(drop)
}

/// The topics that each pattern stands for, internal ones too, in order of their names. A pattern
/// that cannot be read stands for none: it comes from a broker that could.
pub(super) fn resolve(
    patterns: &BTreeSet<Arc<str>>,
    image: &Image,
) -> BTreeMap<Arc<str>, Vec<Arc<str>>> {
    let topics = |pattern: &Arc<str>| {
        let Ok(regex) = compile(pattern) else { return Vec::new() };
        let names = image.topics().keys().filter(|name| regex.is_match(name));
        names.map(|name| Arc::from(name.as_str())).collect()
    };
    patterns.iter().map(|pattern| (Arc::clone(pattern), topics(pattern))).collect()
}

/// Matches whole names only.
fn compile(pattern: &str) -> Result<Regex, String> {
    let pattern = rewritten(pattern);
    let build = |pattern: &str| {
        let mut builder = RegexBuilder::new(pattern);
        let built = builder.size_limit(SIZE_MAX).dfa_size_limit(SIZE_MAX).build();
        built.map_err(|error| last_line(&error))
    };
    // Alone, so that it cannot close the group that is put around it.
    build(&pattern)?;
    build(&format!(r"\A(?:{pattern})\z"))
}

/// What is wrong, without the picture of where.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// In the crate's syntax.
fn rewritten(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut class = Class::Outside;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix(r"\Q") {
            let (literal, tail) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
            out.push_str(&regex::escape(literal));
            rest = tail;
            continue;
        }
        let len = match first {
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '[' if class != Class::Outside && rest.starts_with("[:") => {
                rest.find(":]").map_or(1, |end| end + 2)
            }
            _ => first.len_utf8(),
        };
        let (token, tail) = rest.split_at_checked(len).unwrap_or((rest, ""));
        if class != Class::Outside && matches!(token, "[" | "&" | "~") {
            out.push('\\');
        }
        out.push_str(token);
        class = class.after(token);
        rest = tail;
    }
    out
}

/// Where in a pattern a token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Outside,
    /// At the beginning of a class, where `]` is a member of it.
    Beginning,
    Inside,
}

impl Class {
    fn after(self, token: &str) -> Class {
        match (self, token) {
            (Class::Outside, "[") => Class::Beginning,
            (Class::Outside, _) | (Class::Inside, "]") => Class::Outside,
            (Class::Beginning, "^") => Class::Beginning,
            (Class::Beginning | Class::Inside, _) => Class::Inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_match(pattern: &str, name: &str, want: bool) {
        assert_eq!(compile(pattern).unwrap().is_match(name), want, "{pattern} on {name}");
    }

    #[test]
    fn a_pattern_matches_whole_names() {
        check_match("orders.*", "orders-eu", true);
        check_match("orders", "orders-eu", false);
        check_match("rders", "orders", false);
        check_match("a|b-c", "a-c", false);
        check_match("(?i)ORDERS", "orders", true);
        check_match("", "", true);
    }

    #[test]
    fn what_re2_reads_otherwise_is_rewritten() {
        check_match(r"\Qa.b\E-.", "a.b-x", true);
        check_match(r"\Qa.b\E-.", "aXb-x", false);
        check_match(r"\Qa.b", "a.b", true);
        check_match(r"\\Qa", r"\Qa", true);
        check_match("[a[b]+", "[", true);
        check_match("[a&&b]", "&", true);
        check_match("[a&&b]", "a", true);
        check_match("[^]a]", "b", true);
        check_match("[]a]", "]", true);
        check_match("[[:alpha:]_]+", "ab_", true);
        check_match(r"[\]~~]", "~", true);
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let check_error =
            |pattern: &str, want: &str| assert_eq!(check(pattern), Err(want.to_owned()));
        check_error("(", "unclosed group");
        check_error("a)(b", "unopened group");
        check_error("*", "repetition operator missing expression");
        check_error("(?=a)", "look-around, including look-ahead and look-behind, is not supported");
        check_error(r"(a)\1", "backreferences are not supported");
        assert!(check("((a{1000}){1000}){1000}").is_err());
        let class = |len: usize| format!("[{}]", "a".repeat(len - 2));
        assert_eq!(check(&class(LEN_MAX)), Ok(()));
        check_error(&class(LEN_MAX + 1), "it has more than 32767 bytes");
    }
}
