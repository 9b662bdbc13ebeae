//! What of a segment is damaged, as far as anybody has come upon it.

use super::Segment;
use super::outcome::Damage;
use super::scan::{Flaw, Scan};
use std::fmt;
use std::io;
use std::sync::atomic::Ordering;

impl Segment {
    /// Damage that begins below `border`: if nothing readable follows, it reaches up to the border.
    pub(super) fn damage_before(&self, scan: &mut Scan<'_>, border: i64) -> io::Result<Damage> {
        let mut damage = self.damage_at(scan)?;
        if damage.end_position == self.size() {
            self.damages.lock().retain(|it| it.position != damage.position);
            damage.next_offset = border;
            self.remember(damage);
        }
        Ok(damage)
    }

    /// Finds out how far the damage reaches at which `scan` stands still, and remembers it.
    pub fn damage_at(&self, scan: &mut Scan<'_>) -> io::Result<Damage> {
        let end = self.recent.end();
        let (floor, position) = (scan.floor().max(self.base), scan.position());
        let known = self.damages.lock().iter().find(|it| it.position == position).copied();
        if let Some(damage) = known {
            return Ok(damage);
        }
        let after = scan.resync()?;
        let damage = Damage {
            segment_base: self.base,
            position,
            end_position: after.map_or(u64::from(end.position), |it| it.position),
            offset: floor,
            next_offset: after.map_or(self.offset(end.relative), |it| it.base_offset),
        };
        self.remember(damage);
        Ok(damage)
    }

    /// A batch known to be bad is never sent.
    pub fn remember(&self, damage: Damage) {
        let mut damages = self.damages.lock();
        if !damages.contains(&damage) {
            damages.push(damage);
            damages.sort_by_key(|it| it.position);
        }
        self.damaged.store(true, Ordering::Release);
    }

    /// The first damage that ends behind `position`.
    pub fn damage_from(&self, position: u64) -> Option<Damage> {
        if !self.damaged.load(Ordering::Acquire) {
            return None;
        }
        self.damages.lock().iter().find(|it| position < it.end_position).copied()
    }

    pub fn damages(&self) -> Vec<Damage> {
        self.damages.lock().clone()
    }
}

/// What a flaw means below the recovery point, in words for the log.
impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Torn => "the file ends inside a batch",
            Flaw::Header => "no batch begins here",
            Flaw::Checksum => "the checksum does not match",
            Flaw::Order => "the offsets do not grow",
        })
    }
}
