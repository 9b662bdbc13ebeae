//! The topics that a consumer's metadata names.

use bytes::{Buf, Bytes};
use protocol::messages::StrBytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Adds the topics to `found`. Every version of a consumer's subscription begins as the first one:
/// a version, then the topics. None: these bytes do not.
pub(super) fn read(metadata: &Bytes, found: &mut BTreeSet<Arc<str>>) -> Option<()> {
    let mut rest = metadata.clone();
    let _version = rest.try_get_i16().ok()?;
    let topics = rest.try_get_i32().ok()?;
    for _ in 0..topics {
        let length = usize::try_from(rest.try_get_i16().ok()?).ok()?;
        if rest.remaining() < length {
            return None;
        }
        let name = StrBytes::try_from(rest.split_to(length)).ok()?;
        found.insert(name.as_str().into());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &'static [u8], want: Option<&[&str]>) {
        let mut found = BTreeSet::new();
        let read = read(&Bytes::from_static(bytes), &mut found);
        let found: Vec<&str> = found.iter().map(|name| &**name).collect();
        assert_eq!(read.map(|()| found.as_slice()), want);
    }

    #[test]
    fn topics_stand_behind_the_version() {
        check(b"\0\x03\0\0\0\x02\0\x01b\0\x01a", Some(&["a", "b"]));
        check(b"\0\0\0\0\0\0\xff\xff\xff\xff", Some(&[]));
    }

    #[test]
    fn what_is_no_subscription_gives_none() {
        check(b"", None);
        check(b"\0\0\x7f\xff\xff\xff\0\x01a", None);
        check(b"\0\0\0\0\0\x01\xff\xffa", None);
        check(b"\0\0\0\0\0\x01\0\x01\xff", None);
    }
}
