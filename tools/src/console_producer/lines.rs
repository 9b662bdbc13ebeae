//! Lines of standard input, and the records that they stand for.

use crate::data::producer::{Header, ToSend};
use crate::given::is_true;
use crate::properties::Properties;
use std::io::{self, BufRead};

/// Lines as Java reads them: each ends with `\n`, `\r` or `\r\n`. Bytes that are not UTF-8 stay as
/// they are, where Java would put others in their place.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    /// A `\n` that comes next belongs to a `\r` before it.
    skips_feed: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn of(from: R) -> Lines<R> {
        Lines { from, skips_feed: false }
    }

    /// The next line without its end; None: there is no more.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        loop {
            let bytes = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            let Some(first) = bytes.first() else {
                return Ok((!line.is_empty()).then_some(line));
            };
            if std::mem::take(&mut self.skips_feed) && *first == b'\n' {
                self.from.consume(1);
                continue;
            }
            let end = bytes.iter().position(|byte| [b'\n', b'\r'].contains(byte));
            line.extend_from_slice(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default());
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.skips_feed = end.and_then(|end| bytes.get(end)) == Some(&b'\r');
            self.from.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

/// How a line stands for a record: headers, key and value, each behind its separator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reader {
    parses_key: bool,
    parses_headers: bool,
    ignores_errors: bool,
    key_separator: String,
    headers_delimiter: String,
    headers_separator: String,
    headers_key_separator: String,
    null_marker: Option<String>,
}

impl Reader {
    /// As `--reader-property` says.
    pub(super) fn of(properties: &Properties) -> Result<Reader, String> {
        let text = |name: &str, default: &str| {
            properties.get(name).map_or(default, String::as_str).to_owned()
        };
        let reader = Reader {
            parses_key: is_true(properties, "parse.key"),
            parses_headers: is_true(properties, "parse.headers"),
            ignores_errors: is_true(properties, "ignore.error"),
            key_separator: text("key.separator", "\t"),
            headers_delimiter: text("headers.delimiter", "\t"),
            headers_separator: text("headers.separator", ","),
            headers_key_separator: text("headers.key.separator", ":"),
            null_marker: properties.get("null.marker").cloned(),
        };
        let separators = [
            ("headers.delimiter", Some(&reader.headers_delimiter)),
            ("headers.separator", Some(&reader.headers_separator)),
            ("headers.key.separator", Some(&reader.headers_key_separator)),
        ];
        let marker = ("null.marker", reader.null_marker.as_ref());
        let key = ("key.separator", Some(&reader.key_separator));
        let [a, b, c] = separators;
        for ((one, value), (other, same)) in
            [(a, b), (a, c), (b, c), (marker, key), (marker, a), (marker, b), (marker, c)]
        {
            if value.is_some() && value == same {
                return Err(format!("{one} and {other} may not be equal"));
            }
        }
        for (name, value) in separators.into_iter().chain([key]) {
            if value.is_some_and(String::is_empty) {
                return Err(format!("{name} may not be empty"));
            }
        }
        Ok(reader)
    }

    /// The record of a line, which is the `number`th, from 1.
    pub(super) fn record<'a>(&'a self, line: &'a [u8], number: u64) -> Result<ToSend<'a>, String> {
        let mut rest = line;
        let mut part = |asked: bool, separator: &str, name: &str| {
            if !asked {
                return Ok(None);
            }
            match split_at(rest, separator.as_bytes()) {
                Some((part, behind)) => {
                    rest = behind;
                    Ok(Some(part))
                }
                None if self.ignores_errors => Ok(None),
                None => Err(format!(
                    "No {name} found on line number {number}: '{}'",
                    String::from_utf8_lossy(line)
                )),
            }
        };
        let headers = part(self.parses_headers, &self.headers_delimiter, "headers delimiter")?;
        let key = part(self.parses_key, &self.key_separator, "key separator")?;
        let headers = headers.filter(|it| !self.is_null(it));
        Ok(ToSend {
            key: key.filter(|it| !self.is_null(it)),
            value: Some(rest).filter(|it| !self.is_null(it)),
            headers: headers.map_or(Ok(Vec::new()), |it| self.headers(it, number))?,
            timestamp_ms: None,
        })
    }

    fn headers<'a>(&self, mut rest: &'a [u8], number: u64) -> Result<Vec<Header<'a>>, String> {
        let mut pairs = Vec::new();
        while let Some((pair, behind)) = split_at(rest, self.headers_separator.as_bytes()) {
            pairs.push(pair);
            rest = behind;
        }
        pairs.push(rest);
        // Nothing follows the last separator, as Java splits.
        while 1 < pairs.len() && pairs.last().is_some_and(|pair| pair.is_empty()) {
            pairs.pop();
        }
        pairs.into_iter().map(|pair| self.header(pair, number)).collect()
    }

    fn header<'a>(&self, pair: &'a [u8], number: u64) -> Result<Header<'a>, String> {
        let utf8 = |name| {
            std::str::from_utf8(name)
                .map_err(|_| format!("the name of a header on line number {number} is not UTF-8"))
        };
        let Some((name, value)) = split_at(pair, self.headers_key_separator.as_bytes()) else {
            if self.ignores_errors {
                return Ok((utf8(pair)?, None));
            }
            let pair = String::from_utf8_lossy(pair);
            return Err(format!(
                "No header key separator found in pair '{pair}' on line number {number}"
            ));
        };
        if self.is_null(name) {
            return Err(format!(
                "Header keys should not be equal to the null marker '{}' as they can't be null",
                String::from_utf8_lossy(name)
            ));
        }
        Ok((utf8(name)?, Some(value).filter(|it| !self.is_null(it))))
    }

    fn is_null(&self, part: &[u8]) -> bool {
        self.null_marker.as_ref().is_some_and(|marker| marker.as_bytes() == part)
    }
}

/// What stands before and behind the first `separator`.
fn split_at<'a>(bytes: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(separator.len().max(1)).position(|window| window == separator)?;
    Some((bytes.get(..at)?, bytes.get(at + separator.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn reader(properties: &[(&str, &str)]) -> Result<Reader, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Reader::of(&properties.iter().map(owned).collect())
    }

    #[test]
    fn lines_end_as_java_ends_them() {
        let check = |text: &str, want: &[&str]| {
            for room in 1..8 {
                let mut lines = Lines::of(BufReader::with_capacity(room, text.as_bytes()));
                let mut got = Vec::new();
                while let Some(line) = lines.next().unwrap() {
                    got.push(String::from_utf8(line).unwrap());
                }
                assert_eq!(got, want, "{text:?}");
            }
        };
        check("a\nb", &["a", "b"]);
        check("a\r\nb\r\n", &["a", "b"]);
        check("a\rb\n\nc", &["a", "b", "", "c"]);
        check("\n\r\n", &["", ""]);
        check("", &[]);
    }

    #[track_caller]
    fn check(properties: &[(&str, &str)], line: &str, want: Result<ToSend<'_>, &str>) {
        let reader = reader(properties).unwrap();
        let got = reader.record(line.as_bytes(), 3);
        assert_eq!(got.as_ref().map_err(String::as_str), want.as_ref().map_err(|it| *it), "{line}");
    }

    #[test]
    fn a_line_is_a_value_unless_more_is_asked_for() {
        let value = |value| ToSend { value: Some(value), ..ToSend::default() };
        check(&[], "a\tb", Ok(value(b"a\tb")));
        check(&[], "", Ok(value(b"")));
        let key = [("parse.key", "true")];
        check(&key, "k\tv\tw", Ok(ToSend { key: Some(b"k"), ..value(b"v\tw") }));
        check(&key, "\t", Ok(ToSend { key: Some(b""), ..value(b"") }));
        check(&key, "kv", Err("No key separator found on line number 3: 'kv'"));
        check(&[key[0], ("ignore.error", "true")], "kv", Ok(value(b"kv")));
        let other = [key[0], ("key.separator", "::")];
        check(&other, "a::b::c", Ok(ToSend { key: Some(b"a"), ..value(b"b::c") }));
    }

    #[test]
    fn headers_come_before_the_key() {
        let both = [("parse.key", "true"), ("parse.headers", "true"), ("null.marker", "NULL")];
        let want = ToSend {
            key: Some(b"k"),
            value: Some(b"v"),
            headers: vec![("h", Some(b"1")), ("h", Some(b"2:3")), ("n", None)],
            timestamp_ms: None,
        };
        check(&both, "h:1,h:2:3,n:NULL,\tk\tv", Ok(want));
        check(&both, "NULL\tNULL\tNULL", Ok(ToSend::default()));
        let why = "No header key separator found in pair 'h' on line number 3";
        check(&both, "h\tk\tv", Err(why));
        let why = "Header keys should not be equal to the null marker 'NULL' as they can't be null";
        check(&both, "NULL:1\tk\tv", Err(why));
        check(&both, "h:1", Err("No headers delimiter found on line number 3: 'h:1'"));
    }

    #[test]
    fn separators_must_be_told_apart() {
        let same = [("headers.delimiter", ","), ("headers.separator", ",")];
        assert!(reader(&same).unwrap_err().contains("may not be equal"));
        assert!(reader(&[("null.marker", "\t")]).unwrap_err().contains("null.marker"));
        assert!(reader(&[("key.separator", "")]).unwrap_err().contains("may not be empty"));
    }
}
