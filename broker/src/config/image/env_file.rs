//! An env file, as `docker run --env-file` and Compose take it.
//!
//! Where the two differ, it is read as Compose reads it, and told: a value in quotes, which may go on
//! over several lines; a comment behind a value; `${NAME}`; `export`; spaces around `=`. For `docker
//! run` the first three are part of the value, and the others an error. What neither takes for a
//! variable is refused, and so are continued lines of YAML, which both take for names.

use super::environment::Environment;

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
            let bare = text.strip_prefix("export ").unwrap_or(text).trim_start();
            let Some((front, said)) = bare.split_once('=') else {
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
            if name != front || bare != text || value != said {
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
                 comments, spaces or `export`, or replace `${...}`, in these lines",
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

/// Letters, digits, and what keys of Kafka are made of.
fn is_name(text: &str) -> bool {
    let fits = |it: u8| it.is_ascii_alphanumeric() || b"_-.".contains(&it);
    !text.is_empty() && text.bytes().all(fits)
}

/// What stands for a name that is said before, or in the environment.
type Known<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// `text` with its `${NAME}`, `${NAME:-otherwise}` and `${NAME-otherwise}` replaced.
fn replaced(text: &str, known: Known<'_>) -> String {
    let cut = text.split_once("${").and_then(|(it, rest)| Some((it, rest.split_once('}')?)));
    let Some((before, (inside, behind))) = cut else {
        return text.to_owned();
    };
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let end = inside.find(|it| !is_of_name(it)).unwrap_or(inside.len());
    let (name, rest) = inside.split_at_checked(end).unwrap_or((inside, ""));
    let found = known(name);
    let value = if rest.is_empty() {
        found.unwrap_or_default().to_owned()
    } else if let Some(otherwise) = rest.strip_prefix(":-") {
        found.filter(|value| !value.is_empty()).unwrap_or(otherwise).to_owned()
    } else if let Some(otherwise) = rest.strip_prefix('-') {
        found.unwrap_or(otherwise).to_owned()
    } else {
        format!("${{{inside}}}") // Another thing of Compose's.
    };
    format!("{before}{value}{}", replaced(behind, known))
}

/// The value that begins with `said` and, in quotes, may go on in the next lines.
fn value<'a>(
    said: &'a str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    known: Known<'_>,
) -> Result<String, &'static str> {
    let said = said.trim();
    let quote = match said.chars().next() {
        Some(quote @ ('"' | '\'')) => quote,
        Some('#') | None => return Ok(String::new()),
        Some(_) => {
            let behind = [" #", "\t#"].into_iter().filter_map(|it| said.find(it));
            let end = behind.min().unwrap_or(said.len());
            return Ok(replaced(said.get(..end).unwrap_or(said).trim_end(), known));
        }
    };
    let mut whole = said.get(1..).unwrap_or_default().to_owned();
    while !whole.contains(quote) {
        let (_, next) = lines.next().ok_or(NO_END)?;
        whole.push('\n');
        whole.push_str(next);
    }
    let (value, behind) = whole.split_once(quote).unwrap_or((&whole, ""));
    let behind = behind.trim_start();
    match quote {
        _ if !behind.is_empty() && !behind.starts_with('#') => Err(BEHIND),
        '"' => Ok(replaced(value, known)),
        _ => Ok(value.to_owned()),
    }
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
            "A=\"x y\" # z\nB='z'\nexport C=1\n D = 3 \nE=x # y\nF=\"one,\n  two\"\nG=plain\nH=# x",
            &[
                ("A", "x y"),
                ("B", "z"),
                ("C", "1"),
                ("D", "3"),
                ("E", "x"),
                ("F", "one,\n  two"),
                ("G", "plain"),
                ("H", ""),
            ],
            &[1, 2, 3, 4, 5, 6, 9],
        );
        assert_eq!(
            read("A='1'\nB").unwrap().notes("kafka.env").collect::<Vec<_>>(),
            [
                "kafka.env is read as Compose reads it; `docker run --env-file` would not strip \
                 quotes, comments, spaces or `export`, or replace `${...}`, in these lines: 1",
                "kafka.env has names without a value, which say nothing unless the environment \
                 does, in these lines: 2",
            ]
        );
    }

    #[test]
    fn names_in_braces_stand_for_what_is_said_before_or_outside() {
        check(
            "A=1\nB=${A}-${HERE}\nC='${A}'\nD=\"${NONE:-x}${NONE-y}${A:-z}\"\nE=$A ${A\nF=${A:?}${NONE}",
            &[
                ("A", "1"),
                ("B", "1-said outside"),
                ("C", "${A}"),
                ("D", "xy1"),
                ("E", "$A ${A"),
                ("F", "${A:?}"),
            ],
            &[2, 3, 4, 6],
        );
    }

    #[test]
    fn what_is_no_variable_is_refused_by_its_line() {
        for (text, line, why) in [
            ("A=1\n=x", 2, NO_NAME),
            ("A B=1", 1, NO_NAME),
            ("A: 1", 1, NO_NAME),
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
