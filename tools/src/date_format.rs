//! Times as `java.text.SimpleDateFormat` writes them, in UTC: the letters that say numbers.

/// A pattern, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DateFormat(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A letter, and how often it stands.
    Field(char, usize),
}

impl DateFormat {
    /// Text stands between quotes; two of them are one.
    ///
    /// # Errors
    /// The letter that is not known here.
    pub(crate) fn of(pattern: &str) -> Result<DateFormat, String> {
        let mut parts = Vec::new();
        let mut letters = pattern.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == '\'' {
                parts.push(Part::Text(quoted(&mut letters)));
            } else if letter.is_ascii_alphabetic() {
                if !"yMdHhmsSaZX".contains(letter) {
                    return Err(format!(
                        "--date-format {pattern}: `{letter}` is not known here; y, M, d, H, h, m, \
                         s, S, a, Z and X are"
                    ));
                }
                let mut count = 1;
                while letters.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                parts.push(Part::Field(letter, count));
            } else {
                parts.push(Part::Text(letter.to_string()));
            }
        }
        Ok(DateFormat(parts))
    }

    /// Milliseconds since 1970.
    pub(crate) fn format(&self, ms: i64) -> String {
        let (days, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
        let (year, month, day) = date(days);
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let mut text = String::new();
        for part in &self.0 {
            let (number, width) = match part {
                Part::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                Part::Field('a', _) => {
                    text.push_str(if hour < 12 { "AM" } else { "PM" });
                    continue;
                }
                Part::Field('Z', _) => {
                    text.push_str("+0000");
                    continue;
                }
                Part::Field('X', _) => {
                    text.push('Z');
                    continue;
                }
                Part::Field('y', 2) => (year.rem_euclid(100), 2),
                Part::Field('y', width) => (year, *width),
                Part::Field('M', width) => (month, *width),
                Part::Field('d', width) => (day, *width),
                Part::Field('H', width) => (hour, *width),
                Part::Field('h', width) => ((hour + 11) % 12 + 1, *width),
                Part::Field('m', width) => (minute, *width),
                Part::Field('s', width) => (of_day / 1000 % 60, *width),
                Part::Field(_, width) => (of_day % 1000, *width),
            };
            text.push_str(&format!("{number:0width$}"));
        }
        text
    }
}

fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' if letters.next_if_eq(&'\'').is_some() => text.push('\''),
            '\'' if text.is_empty() => return "'".to_owned(),
            '\'' => return text,
            _ => text.push(letter),
        }
    }
    text
}

/// Year, month and day of a day, counted from 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // The year begins in March, so that the day that comes and goes is the last one.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_the_pattern_says() {
        let check = |pattern: &str, ms: i64, want: &str| {
            assert_eq!(DateFormat::of(pattern).unwrap().format(ms), want, "{pattern}");
        };
        let kafka = "yyyy-MM-dd HH:mm:ss:SSS";
        check(kafka, 0, "1970-01-01 00:00:00:000");
        check(kafka, 1_709_210_096_007, "2024-02-29 12:34:56:007");
        check(kafka, -1, "1969-12-31 23:59:59:999");
        check("d.M.yy h 'o''clock' a", 1_709_210_096_007, "29.2.24 12 o'clock PM");
        check("HH''mm Z X", 0, "00'00 +0000 Z");
        assert!(DateFormat::of("EEE").unwrap_err().contains("`E`"));
    }
}
