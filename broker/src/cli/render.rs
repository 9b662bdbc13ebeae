//! `highwater config render`: a server.properties of what was said, each key below who says it.

use crate::config::Given;
use crate::config::given::Origin;
use crate::config::load::settled;

/// The lines of the file.
pub fn lines(given: &Given) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in given.settings() {
        if let Some(origin) = given.origin(name) {
            lines.push(format!("# {}", origin_text(origin)));
        }
        lines.push(format!("{}={}", escape(name, true), escape(value, false)));
    }
    lines
}

/// What was noted on the way and would not be told again by a start with that file, a line each with
/// its weight before it.
pub fn notes(given: &Given) -> Vec<String> {
    let again = Given::parse("", lines(given).join("\n").as_bytes()).map(settled);
    let again = again.unwrap_or_default();
    let told = |note: &&String| !again.notes().contains(note);
    let alarm = given.alarm().filter(|_| again.alarm().is_none());
    let notes = given.notes().iter().filter(told).map(|note| format!("WARN {note}"));
    notes.chain(alarm.map(|alarm| format!("ERROR {alarm}"))).collect()
}

/// One line, whatever a file may be called.
fn origin_text(origin: &Origin) -> String {
    origin.to_string().replace(['\n', '\r'], " ")
}

/// As `java.util.Properties` reads it back.
fn escape(text: &str, is_name: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, it) in text.chars().enumerate() {
        match it {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{c}' => escaped.push_str("\\f"),
            '\\' => escaped.push_str("\\\\"),
            ' ' if at == 0 || is_name => escaped.push_str("\\ "),
            '=' | ':' if is_name => escaped.extend(['\\', it]),
            '#' | '!' if at == 0 && is_name => escaped.extend(['\\', it]),
            it if it.is_ascii() => escaped.push(it),
            // Java takes the bytes of UTF-8 for letters of Latin-1.
            it => {
                for unit in it.encode_utf16(&mut [0; 2]) {
                    escaped.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::properties;

    #[test]
    fn what_is_written_is_read_back() {
        let text = "a\\ b\\=\\#\\:c=\\ x\\ny\\\\z = \\#\nplain=1\nuni=\u{e9}\u{1d11e}\n";
        let given = Given::parse("f", text.as_bytes()).unwrap();
        let again = Given::parse("f", lines(&given).join("\n").as_bytes()).unwrap();
        assert_eq!(given.settings(), again.settings());
        assert_eq!(given.settings().get("a b=#:c").map(String::as_str), Some(" x\ny\\z = #"));
        assert_eq!(lines(&given)[0], "# f:1");
        assert!(lines(&given).contains(&"uni=\\u00E9\\uD834\\uDD1E".to_owned()));
        assert!(properties::parse(lines(&given).join("\n").as_bytes()).is_ok());
    }
}
