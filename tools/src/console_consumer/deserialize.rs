//! Kafka's deserializers, by the names of their classes: bytes of a record, as text.

use crate::json::java_double;
use std::fmt::Write;

/// How bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deserializer {
    /// As they are: strings, and what has no text of its own.
    Plain,
    /// What is printable as it is, other bytes by number (`Bytes` of Kafka).
    Escaped,
    Boolean,
    Short,
    Integer,
    Long,
    Float,
    Double,
    Uuid,
    Void,
}

impl Deserializer {
    /// The one of this class, with or without its package.
    pub(super) fn of(class: &str) -> Result<Deserializer, String> {
        Ok(match class.rsplit('.').next().unwrap_or(class) {
            "StringDeserializer" | "ByteArrayDeserializer" | "ByteBufferDeserializer" => {
                Deserializer::Plain
            }
            "BytesDeserializer" => Deserializer::Escaped,
            "BooleanDeserializer" => Deserializer::Boolean,
            "ShortDeserializer" => Deserializer::Short,
            "IntegerDeserializer" => Deserializer::Integer,
            "LongDeserializer" => Deserializer::Long,
            "FloatDeserializer" => Deserializer::Float,
            "DoubleDeserializer" => Deserializer::Double,
            "UUIDDeserializer" => Deserializer::Uuid,
            "VoidDeserializer" => Deserializer::Void,
            _ => {
                return Err(format!(
                    "{class}: there is no Java here to load this deserializer; those of \
                     org.apache.kafka.common.serialization are known"
                ));
            }
        })
    }

    /// The text.
    ///
    /// # Errors
    /// The bytes are none of the type.
    pub(super) fn read(self, bytes: &[u8], into: &mut Vec<u8>) -> Result<(), String> {
        let text = match self {
            Deserializer::Plain => {
                into.extend_from_slice(bytes);
                return Ok(());
            }
            Deserializer::Escaped => escaped(bytes),
            Deserializer::Boolean => match array::<1>(bytes, "Boolean")? {
                [0] => "false".to_owned(),
                [1] => "true".to_owned(),
                [other] => return Err(format!("Unexpected byte received: {other}")),
            },
            Deserializer::Short => i16::from_be_bytes(array(bytes, "Short")?).to_string(),
            Deserializer::Integer => i32::from_be_bytes(array(bytes, "Integer")?).to_string(),
            Deserializer::Long => i64::from_be_bytes(array(bytes, "Long")?).to_string(),
            Deserializer::Float => java_float(f32::from_be_bytes(array(bytes, "Float")?)),
            Deserializer::Double => java_double(f64::from_be_bytes(array(bytes, "Double")?)),
            Deserializer::Uuid => match std::str::from_utf8(bytes) {
                Ok(text) if is_uuid(text) => text.to_ascii_lowercase(),
                Ok(_) | Err(_) => return Err("Error parsing data into UUID".to_owned()),
            },
            Deserializer::Void => return Err("Data should be null for a VoidDeserializer.".into()),
        };
        into.extend(text.into_bytes());
        Ok(())
    }
}

fn array<const N: usize>(bytes: &[u8], name: &str) -> Result<[u8; N], String> {
    bytes.try_into().map_err(|_| format!("Size of data received by {name}Deserializer is not {N}"))
}

/// Shortest, as doubles are.
fn java_float(number: f32) -> String {
    let is_plain = number == 0.0 || (1e-3..1e7).contains(&number.abs());
    if is_plain || !number.is_finite() {
        return if number.is_finite() { format!("{number:?}") } else { java_double(number.into()) };
    }
    let text = format!("{number:E}");
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    format!("{digits}{}E{exponent}", if digits.contains('.') { "" } else { ".0" })
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(*byte)),
            // To write to a text cannot fail.
            _ => drop(write!(text, "\\x{byte:02X}")),
        }
    }
    text
}

fn is_uuid(text: &str) -> bool {
    let lens: Vec<_> = text.split('-').map(str::len).collect();
    let digits = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    lens == [8, 4, 4, 4, 12] && digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_spelt_as_java_spells_it() {
        let check = |class: &str, bytes: &[u8], want: Result<&str, &str>| {
            let full = format!("org.apache.kafka.common.serialization.{class}Deserializer");
            let mut text = Vec::new();
            let read = Deserializer::of(&full).unwrap().read(bytes, &mut text);
            let got = read.map(|()| String::from_utf8(text).unwrap());
            assert_eq!(got.as_deref().map_err(String::as_str), want, "{class}");
        };
        check("String", "grün".as_bytes(), Ok("grün"));
        check("ByteArray", b"ab", Ok("ab"));
        check("Bytes", b"a\\\x00\xff", Ok("a\\\\\\x00\\xFF"));
        check("Boolean", &[1], Ok("true"));
        check("Boolean", &[2], Err("Unexpected byte received: 2"));
        check("Short", &[0xff, 0xfe], Ok("-2"));
        check("Integer", &[0, 0, 1, 0], Ok("256"));
        check("Integer", b"abc", Err("Size of data received by IntegerDeserializer is not 4"));
        check("Long", &[0, 0, 0, 0, 0, 0, 1, 0], Ok("256"));
        check("Float", &1.5_f32.to_be_bytes(), Ok("1.5"));
        check("Float", &1e10_f32.to_be_bytes(), Ok("1.0E10"));
        check("Double", &0.1_f64.to_be_bytes(), Ok("0.1"));
        let uuid = "0e37df36-f698-11e6-8dd4-cb9ced3df976";
        check("UUID", uuid.as_bytes(), Ok(uuid));
        check("UUID", b"no", Err("Error parsing data into UUID"));
        assert!(Deserializer::of("io.confluent.KafkaAvroDeserializer").is_err());
    }
}
