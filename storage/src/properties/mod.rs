//! The `.properties` format, as Java reads it.

/// A name and its value, and where they stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Counted from 1; of a continued line, the first.
    pub line: usize,
    pub name: String,
    pub value: String,
}

/// A line that is no property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    pub line: usize,
    pub why: &'static str,
}

/// All properties in the order of the text. A name may stand twice: the later one counts.
pub fn parse(bytes: &[u8]) -> Result<Vec<Property>, Malformed> {
    if let Some(at) = bytes.iter().position(|it| *it == 0) {
        let line = bytes.iter().take(at).filter(|it| **it == b'\n').count().saturating_add(1);
        let why = "a zero byte: this is no text, or text in UTF-16, which is to be saved as UTF-8";
        return Err(Malformed { line, why });
    }
    let text = decode(bytes);
    let mut found = Vec::new();
    let mut lines = natural_lines(&text).enumerate();
    while let Some((number, first)) = lines.next() {
        let first = first.trim_start_matches(BLANK);
        if first.is_empty() || first.starts_with(['#', '!']) {
            continue;
        }
        let mut logical = first.to_owned();
        while is_continued(&logical) {
            logical.pop();
            let Some((_, more)) = lines.next() else { break };
            logical.push_str(more.trim_start_matches(BLANK));
        }
        let line = number.saturating_add(1);
        let (name, value) = split(&logical);
        let unescaped = |text| unescape(text).map_err(|why| Malformed { line, why });
        found.push(Property { line, name: unescaped(name)?, value: unescaped(value)? });
    }
    Ok(found)
}

const BLANK: [char; 3] = [' ', '\t', '\u{c}'];

/// UTF-8, and where it is not, Latin-1, which is all that Java reads here.
fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

/// Lines end with `\n`, `\r`, or both.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Whether the line ends with a backslash that no other one takes away.
fn is_continued(line: &str) -> bool {
    let backslashes = line.chars().rev().take_while(|it| *it == '\\').count();
    backslashes % 2 == 1
}

/// The name ends at the first blank, `=` or `:` that no backslash precedes; around the value's
/// beginning stand blanks and at most one `=` or `:`.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let ends = |it: char| {
        let ends = !escaped && (BLANK.contains(&it) || matches!(it, '=' | ':'));
        escaped = it == '\\' && !escaped;
        ends
    };
    let Some(at) = line.find(ends) else { return (line, "") };
    let (name, rest) = line.split_at(at);
    let rest = rest.trim_start_matches(BLANK);
    (name, rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(BLANK))
}

/// Takes the backslashes away. Java counts in UTF-16, so that a pair of `\u` may be one character.
fn unescape(text: &str) -> Result<String, &'static str> {
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(it) = chars.next() {
        let plain = match it {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    units.push(hex(&mut chars).ok_or("`\\u` wants four hex digits behind it")?);
                    continue;
                }
                Some(other) => other,
                None => continue,
            },
            other => other,
        };
        units.extend_from_slice(plain.encode_utf16(&mut [0; 2]));
    }
    Ok(String::from_utf16_lossy(&units))
}

fn hex(chars: &mut std::str::Chars<'_>) -> Option<u16> {
    (0..4).try_fold(0u16, |unit, _| {
        let digit = u16::try_from(chars.next()?.to_digit(16)?).ok()?;
        Some((unit << 4) | digit)
    })
}

#[cfg(test)]
mod tests;
