//! JSON as Jackson writes it, which is what Kafka's tools print: members in the order in which they
//! were put, no blanks, control characters by number in capitals.

use kraft::record::Shown;
use std::fmt::{self, Write};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// An object of these members, in this order.
pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Int(number)
    }
}

impl From<i32> for Json {
    fn from(number: i32) -> Json {
        Json::Int(number.into())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

/// A field that a record shows, under the name that Kafka gives it.
impl From<Shown> for Json {
    fn from(shown: Shown) -> Json {
        match shown {
            Shown::Null => Json::Null,
            Shown::Bool(it) => Json::Bool(it),
            Shown::Int(it) => Json::Int(it),
            Shown::Float(it) => Json::Float(it),
            Shown::Text(it) => Json::Text(it),
            Shown::Bytes(it) => Json::Text(base64(&it)),
            Shown::List(it) => Json::List(it.into_iter().map(Json::from).collect()),
            Shown::Fields(it) => fields(it),
        }
    }
}

/// The fields of a message.
pub(crate) fn fields(shown: Vec<(&'static str, Shown)>) -> Json {
    Json::Object(shown.into_iter().map(|(name, it)| (camel(name), it.into())).collect())
}

/// `broker_id` is Kafka's `brokerId`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        text.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        text.push_str(letters.as_str());
    }
    text
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(it) => write!(f, "{it}"),
            Json::Int(it) => write!(f, "{it}"),
            Json::Float(it) => f.write_str(&java_double(*it)),
            Json::Text(text) => quoted(text, f),
            Json::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Json::Object(members) => {
                f.write_char('{')?;
                for (at, (name, value)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    quoted(name, f)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\u{8}' => f.write_str("\\b")?,
            '\t' => f.write_str("\\t")?,
            '\n' => f.write_str("\\n")?,
            '\u{c}' => f.write_str("\\f")?,
            '\r' => f.write_str("\\r")?,
            '\0'..'\u{20}' => write!(f, "\\u{:04X}", u32::from(letter))?,
            _ => f.write_char(letter)?,
        }
    }
    f.write_char('"')
}

/// A double as Java's `Double.toString` spells it.
pub(crate) fn java_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-Infinity" } else { "Infinity" }.to_owned();
    }
    let is_plain = number == 0.0 || (1e-3..1e7).contains(&number.abs());
    if is_plain {
        return format!("{number:?}");
    }
    let text = format!("{number:E}");
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes, in the alphabet of RFC 4648 with its padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * digit) & 0x3f).unwrap_or(0);
            let letter = BASE64.get(index).copied().unwrap_or(b'=');
            text.push(char::from(if digit <= group.len() { letter } else { b'=' }));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_their_order_without_blanks() {
        let value = object([
            ("b", Json::Null),
            ("a", Json::List(vec![1.into(), true.then_some("x").into(), Json::Bool(false)])),
            ("c", object([("it's \"\\\n\u{1f}é", Json::Float(0.5))])),
        ]);
        let want = r#"{"b":null,"a":[1,"x",false],"c":{"it's \"\\\n\u001Fé":0.5}}"#;
        assert_eq!(value.to_string(), want);
    }

    #[test]
    fn names_and_bytes_are_spelt_as_kafka_does() {
        let shown = vec![
            ("is_migrating_zk_broker", Shown::Bool(true)),
            ("k_raft_version", Shown::Bytes(vec![1, 2, 3, 4])),
        ];
        let want = r#"{"isMigratingZkBroker":true,"kRaftVersion":"AQIDBA=="}"#;
        assert_eq!(fields(shown).to_string(), want);
        assert_eq!([base64(b""), base64(b"ab"), base64(b"abc")], ["", "YWI=", "YWJj"]);
    }

    #[test]
    fn doubles_are_spelt_as_java_does() {
        let check = |number: f64, want: &str| assert_eq!(java_double(number), want);
        check(1.0, "1.0");
        check(-0.001, "-0.001");
        check(9_999_999.5, "9999999.5");
        check(1e7, "1.0E7");
        check(1.25e-4, "1.25E-4");
        check(0.0, "0.0");
        check(f64::INFINITY, "Infinity");
        check(f64::NAN, "NaN");
    }
}
