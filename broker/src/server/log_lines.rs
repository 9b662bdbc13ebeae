//! Log lines as Kafka writes them, since other programs wait for some of them:
//! `[2026-11-29 17:40:01,123] INFO Kafka Server started (kafka.server.KafkaRaftServer)`.

use super::log_levels::Levels;
use kraft::env::Clock;
use std::fmt::{self, Debug};
use std::io;
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// Has every event of this process written to stdout, the first time it is called.
pub fn write_to_stdout(clock: Arc<dyn Clock>, levels: Levels) {
    let targets = levels.targets();
    let lines = layer().event_format(Lines { clock }).with_writer(io::stdout);
    // Fails only where a test has set one already.
    drop(tracing_subscriber::registry().with(targets).with(lines).try_init());
}

struct Lines {
    clock: Arc<dyn Clock>,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (meta, time) = (event.metadata(), Time(self.clock.wall_ms()));
        write!(writer, "[{time}] {} ", meta.level())?;
        let mut message = Message { writer: &mut writer, result: Ok(()) };
        event.record(&mut message);
        message.result?;
        writeln!(writer, " ({})", meta.target())
    }
}

/// Writes the message, and behind it what else an event carries.
struct Message<'a, 'b> {
    writer: &'a mut Writer<'b>,
    result: fmt::Result,
}

impl Visit for Message<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written = match field.name() {
            "message" => write!(self.writer, "{value:?}"),
            name => write!(self.writer, " {name}={value:?}"),
        };
        self.result = self.result.and(written);
    }
}

/// Milliseconds since 1970, as a date and a time of UTC.
struct Time(i64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let (year, month, day) = date(self.0.div_euclid(DAY));
        let ms = self.0.rem_euclid(DAY);
        let (h, m, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02},{:03}", ms % 1000)
    }
}

/// The date of a day since 1970. Counted from a first of March, so that a leap day ends its year;
/// 400 years have 146,097 days.
fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468; // From 0000-03-01.
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let of_month = of_year - (153 * from_march + 2) / 5 + 1;
    (era * 400 + year + i64::from(month <= 2), month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (ms, want) in [
            (0, "1970-01-01 00:00:00,000"),
            (-1, "1969-12-31 23:59:59,999"),
            (951_782_400_000, "2000-02-29 00:00:00,000"),
            (951_868_799_999, "2000-02-29 23:59:59,999"),
            (951_868_800_000, "2000-03-01 00:00:00,000"),
            (1_798_761_600_000, "2027-01-01 00:00:00,000"),
            (1_795_974_001_123, "2026-11-29 17:40:01,123"),
            (4_107_542_399_000, "2100-02-28 23:59:59,000"),
            (4_107_542_400_000, "2100-03-01 00:00:00,000"),
        ] {
            assert_eq!(Time(ms).to_string(), want);
        }
    }
}
