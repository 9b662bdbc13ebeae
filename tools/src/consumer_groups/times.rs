//! Times and durations as ISO 8601 writes them, in milliseconds.

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// `2026-01-31T12:00:00.000`, perhaps with `Z`, `+01`, `+0100` or `+01:00` behind: milliseconds
/// since 1970. Without a zone it is UTC.
pub(super) fn date_time_ms(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(0..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // The next month begins one day behind the last one of this.
    let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    if next <= days(year, month, day) {
        return None;
    }
    let at = time.find(['Z', '+', '-']);
    let (clock, zone) = at.map_or(Some((time, "Z")), |at| time.split_at_checked(at))?;
    let (whole, thousandths) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = whole.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let millis: i64 = thousandths.parse().ok().filter(|it| (0..1000).contains(it))?;
    if !(0..24).contains(&hours) || ![minutes, seconds].iter().all(|it| (0..60).contains(it)) {
        return None;
    }
    let day_ms = ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis;
    days(year, month, day).checked_mul(DAY_MS)?.checked_add(day_ms)?.checked_sub(zone_ms(zone)?)
}

fn zone_ms(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.chars().skip(1).filter(|letter| *letter != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { minutes.parse::<i64>().ok()? };
    Some(sign * (hours.parse::<i64>().ok()? * 60 + minutes) * 60_000)
}

/// Days since 1970 in the Gregorian calendar. Years begin with March, so that the odd day of leap
/// years is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// `P1DT2H3M4.5S`, any part left out: milliseconds.
pub(super) fn duration_ms(text: &str) -> Option<i64> {
    let upper = text.to_ascii_uppercase();
    let (sign, rest) = upper.strip_prefix('-').map_or((1, upper.as_str()), |rest| (-1, rest));
    let rest = rest.strip_prefix('P')?;
    let (days, time) = rest.split_once('T').unwrap_or((rest, ""));
    if rest.is_empty() || rest.ends_with('T') {
        return None;
    }
    let mut total: i64 = 0;
    if !days.is_empty() {
        total = days.strip_suffix('D')?.parse::<i64>().ok()?.checked_mul(DAY_MS)?;
    }
    let mut left = time;
    for (unit, unit_ms) in [('H', 3_600_000), ('M', 60_000)] {
        if let Some((number, rest)) = left.split_once(unit) {
            total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(unit_ms)?)?;
            left = rest;
        }
    }
    if !left.is_empty() {
        let (seconds, fraction) =
            left.strip_suffix('S')?.split_once('.').unwrap_or((left.strip_suffix('S')?, ""));
        let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
        let seconds_ms = seconds.parse::<i64>().ok()?.checked_mul(1000)?;
        let fraction_ms: i64 = thousandths.parse().ok()?;
        let back = seconds.starts_with('-');
        total = total.checked_add(seconds_ms)?.checked_add(if back {
            -fraction_ms
        } else {
            fraction_ms
        })?;
    }
    Some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_times_are_utc_unless_they_say_otherwise() {
        for (text, want) in [
            ("1970-01-01T00:00:00.000", Some(0)),
            ("2000-02-29T12:00:00.005", Some(951_825_600_005)),
            ("2026-11-30T01:02:03.000Z", Some(1_796_000_523_000)),
            ("1970-01-01T01:00:00.000+01:00", Some(0)),
            ("1970-01-01T01:00:00.000+0100", Some(0)),
            ("1969-12-31T23:00:00.000-01", Some(0)),
            ("2026-11-30", None),
            ("2026-13-30T00:00:00.000", None),
            ("2026-02-29T00:00:00.000", None),
            ("2026-12-31T00:00:00.000", Some(1_798_675_200_000)),
            ("2026-12-32T00:00:00.000", None),
            ("2026-01-01T24:00:00.000", None),
            ("2026-01-01T00:60:00.000", None),
            ("2026-01-01T00:00:-1.000", None),
            ("yesterday", None),
        ] {
            assert_eq!(date_time_ms(text), want, "{text}");
        }
    }

    #[test]
    fn durations_leave_parts_out() {
        for (text, want) in [
            ("PT0S", Some(0)),
            ("PT1H", Some(3_600_000)),
            ("P1DT2H3M4.5S", Some(93_784_500)),
            ("P2D", Some(172_800_000)),
            ("-PT1M", Some(-60_000)),
            ("pt1m", Some(60_000)),
            ("P", None),
            ("PT", None),
            ("1H", None),
            ("PT1X", None),
        ] {
            assert_eq!(duration_ms(text), want, "{text}");
        }
    }
}
