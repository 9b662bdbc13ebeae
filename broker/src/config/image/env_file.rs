//! An env file, as `docker run --env-file` and Compose take it.
//!
//! Where the two differ, it is read as Compose reads it, and told: a value in quotes, which may go on
//! over several lines; a comment behind a value; `$NAME`; `export`; spaces around `=`; `NAME: value`.
//! For `docker run` the first three are part of the value, and the others an error. What neither
//! takes for a variable is refused, and so are continued lines of YAML, which both take for names:
//! `:` parts a name from a value only before a blank, where Compose would read `PLAINTEXT://:9092` as
//! a variable called PLAINTEXT.

use super::environment::Environment;
use super::interpolate::{Known, interpolate};

/// A line that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The first is 1.
    pub line: usize,
    pub why: &'static str,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvFile {
    pub variables: Vec<(String, String)>,
    /// Lines that `docker run --env-file` would not read like this.
    pub otherwise_in_docker: Vec<usize>,
    /// Lines of names alone that nobody gives a value.
    pub without_value: Vec<usize>,
}

const NO_NAME: &str = "must be `NAME=value`; a value goes on in the next line only within quotes";
const NO_END: &str = "a value that begins with a quote must end with one";
const BEHIND: &str = "only a comment may stand behind a value in quotes";

impl EnvFile {
    /// Reads the text of a file. A name alone says what it says in `around`, if anything.
    pub fn parse(text: &str, around: &Environment) -> Result<EnvFile, Malformed> {
        let mut file = EnvFile::default();
        let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
        while let Some((line, text)) = lines.next() {
            let malformed = |why| Malformed { line, why };
            let text = text.trim_start();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let bare = without_export(text);
            let Some((front, said)) = parted(bare) else {
                let name = bare.trim_end();
                is_name(name).then_some(()).ok_or(malformed(NO_NAME))?;
                match around.get(name) {
                    Some(value) => file.variables.push((name.to_owned(), value.to_owned())),
                    None => file.without_value.push(line),
                }
                continue;
            };
            let name = front.trim_end();
            is_name(name).then_some(()).ok_or(malformed(NO_NAME))?;
            let known = |name: &str| {
                let said = file.variables.iter().rev().find(|(it, _)| it == name);
                said.map(|(_, value)| value.as_str()).or_else(|| around.get(name))
            };
            let value = value(said, &mut lines, &known).map_err(malformed)?;
            let in_docker = text.strip_prefix(name).and_then(|it| it.strip_prefix('='));
            if in_docker != Some(value.as_str()) {
                file.otherwise_in_docker.push(line);
            }
            file.variables.push((name.to_owned(), value));
        }
        Ok(file)
    }

    /// What the operator should know of how it was read.
    pub fn notes(&self, name: &str) -> impl Iterator<Item = String> {
        let told = [
            (
                &self.otherwise_in_docker,
                "is read as Compose reads it; `docker run --env-file` would not strip quotes, \
                 comments, spaces, backslashes or `export`, replace `$NAME`, or take `:` for `=`, in \
                 these lines",
            ),
            (
                &self.without_value,
                "has names without a value, which say nothing unless the environment does, in \
                 these lines",
            ),
        ];
        let told = told.into_iter().filter(|(lines, _)| !lines.is_empty());
        told.map(move |(lines, what)| {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            format!("{name} {what}: {}", lines.join(", "))
        })
    }
}

/// What stands behind `export`, where that is the first word.
fn without_export(text: &str) -> &str {
    let rest = text.strip_prefix("export").filter(|rest| rest.starts_with(BLANK));
    rest.map_or(text, str::trim_start)
}

const BLANK: [char; 2] = [' ', '\t'];

/// What stands before and behind the first `=`, or `:` that a blank or nothing follows.
fn parted(text: &str) -> Option<(&str, &str)> {
    let at = text.find(['=', ':'])?;
    let (front, said) = (text.get(..at)?, text.get(at + 1..)?);
    let parts = text.get(at..)?.starts_with('=') || said.is_empty() || said.starts_with(BLANK);
    parts.then_some((front, said))
}

/// Letters, digits, and what keys of Kafka are made of; brackets are Compose's.
fn is_name(text: &str) -> bool {
    let fits = |it: char| it.is_alphanumeric() || "_-.[]".contains(it);
    !text.is_empty() && text.chars().all(fits)
}

/// The value that begins with `said` and, in quotes, may go on in the next lines.
fn value<'a>(
    said: &'a str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    known: Known<'_>,
) -> Result<String, &'static str> {
    let said = said.trim();
    let Some(quote) = said.chars().next().filter(|it| ['"', '\''].contains(it)) else {
        let end = said.find(" #").unwrap_or(said.len());
        return interpolate(said.get(..end).unwrap_or(said).trim_end(), known);
    };
    let mut whole = said.get(1..).unwrap_or_default().to_owned();
    let end = loop {
        match closing(&whole, quote) {
            Some(end) => break end,
            None => {
                let (_, next) = lines.next().ok_or(NO_END)?;
                whole.push('\n');
                whole.push_str(next);
            }
        }
    };
    let (value, behind) = whole.split_at_checked(end).unwrap_or((&whole, ""));
    let behind = behind.get(1..).unwrap_or_default().trim_start();
    if !behind.is_empty() && !behind.starts_with('#') {
        return Err(BEHIND);
    }
    match quote {
        '"' => interpolate(&unescaped(value), known),
        _ => Ok(value.replace("\\'", "'")),
    }
}

/// Where the quote ends: at one that no backslash precedes.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.find(|it| {
        let ends = it == quote && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        ends
    })
}

/// What stands in double quotes, without the backslashes that mean something there. A dollar behind
/// one stays a dollar when names are replaced.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('a') => plain.push('\u{7}'),
            Some('b') => plain.push('\u{8}'),
            Some('f') => plain.push('\u{c}'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('v') => plain.push('\u{b}'),
            Some('$') => plain.push_str("$$"),
            Some(it @ ('"' | '\\')) => plain.push(it),
            other => {
                plain.push('\\');
                plain.extend(other);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EnvFile, Malformed> {
        let around = Environment::of([("HERE".to_owned(), "said outside".to_owned())]);
        EnvFile::parse(text, &around)
    }

    #[track_caller]
    fn check(text: &str, want: &[(&str, &str)], otherwise_in_docker: &[usize]) {
        let found = read(text).unwrap();
        let pairs: Vec<(&str, &str)> =
            found.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, want, "{text}");
        assert_eq!(found.otherwise_in_docker, otherwise_in_docker, "{text}");
    }

    #[test]
    fn both_read_plain_lines_alike() {
        check(
            "A=1\n# B=2\n\n  C=a=b\nD=x#y\nE=\n",
            &[("A", "1"), ("C", "a=b"), ("D", "x#y"), ("E", "")],
            &[],
        );
        check("\u{feff}A=1\r\nB=2", &[("A", "1"), ("B", "2")], &[]);
    }

    #[test]
    fn a_name_alone_says_what_it_says_outside() {
        check("HERE\nNOWHERE\n", &[("HERE", "said outside")], &[]);
        assert_eq!(read("A=broker,\ncontroller").unwrap().without_value, [2]);
    }

    #[test]
    fn quotes_comments_and_spaces_are_composes() {
        check(
            "A=\"x y\" # z\nB='z'\nexport\tC=1\n D = 3 \nE=x # y\nF=\"one,\n  two\"\nG=plain\nH=#x",
            &[
                ("A", "x y"),
                ("B", "z"),
                ("C", "1"),
                ("D", "3"),
                ("E", "x"),
                ("F", "one,\n  two"),
                ("G", "plain"),
                ("H", "#x"),
            ],
            &[1, 2, 3, 4, 5, 6],
        );
        assert_eq!(
            read("A='1'\nB").unwrap().notes("kafka.env").collect::<Vec<_>>(),
            [
                "kafka.env is read as Compose reads it; `docker run --env-file` would not strip \
                 quotes, comments, spaces, backslashes or `export`, replace `$NAME`, or take `:` for \
                 `=`, in these lines: 1",
                "kafka.env has names without a value, which say nothing unless the environment \
                 does, in these lines: 2",
            ]
        );
    }

    #[test]
    fn names_stand_for_what_is_said_before_or_outside() {
        check(
            "A=1\nB=${A}-$HERE\nC='${A}'\nD=\"${NONE:-${A}}\"\nE=$$A ${A\nF=$ # x",
            &[
                ("A", "1"),
                ("B", "1-said outside"),
                ("C", "${A}"),
                ("D", "1"),
                ("E", "$A ${A"),
                ("F", "$"),
            ],
            &[2, 3, 4, 5, 6],
        );
        let why = "`${NAME:?..}` wants a variable that nobody sets";
        assert_eq!(read("A=1\nB=${NONE:?}"), Err(Malformed { line: 2, why }));
    }

    #[test]
    fn backslashes_mean_something_in_double_quotes_alone() {
        check(
            r#"A="a\"b\\c\n\$HERE\q"
B='it\'s \n'
C=a\nb"#,
            &[("A", "a\"b\\c\n$HERE\\q"), ("B", "it's \\n"), ("C", "a\\nb")],
            &[1, 2],
        );
    }

    #[test]
    fn a_colon_parts_before_a_blank() {
        let want = [("A", "1"), ("B", "x=y"), ("C", "")];
        check("A: 1\nB:\t'x=y'\nC:", &want, &[1, 2, 3]);
    }

    #[test]
    fn what_is_no_variable_is_refused_by_its_line() {
        for (text, line, why) in [
            ("A=1\n=x", 2, NO_NAME),
            ("A B=1", 1, NO_NAME),
            ("A:1", 1, NO_NAME),
            ("- A=1", 1, NO_NAME),
            ("A=PLAINTEXT://a:1,\n  CONTROLLER://a:2", 2, NO_NAME),
            ("A=>-\n  PLAINTEXT://a:1", 2, NO_NAME),
            ("\nA=\"x\nB=2", 2, NO_END),
            ("A=\"x\"y", 1, BEHIND),
        ] {
            assert_eq!(read(text), Err(Malformed { line, why }), "{text}");
        }
    }
}
