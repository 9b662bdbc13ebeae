//! Placement: which partition of its topic keeps an id.

/// The absolute value of Java's `String.hashCode` modulo `count`, where the one hash that has no
/// absolute value counts as 0 (Kafka's `Utils.abs`). None: there are no partitions.
pub fn partition_of(id: &str, count: i32) -> Option<i32> {
    let hash =
        id.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
    hash.checked_abs().unwrap_or(0).checked_rem(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lie_where_java_puts_them() {
        let check = |id, count, want| assert_eq!(partition_of(id, count), want, "{id}");
        check("", 50, Some(0));
        check("a", 50, Some(47));
        check("test-group", 50, Some(12));
        // A letter of two UTF-16 units, a hash below zero, and the one of no absolute value.
        check("\u{1F980}", 50, Some(2));
        check("consumers", 50, Some(33));
        check("polygenelubricants", 50, Some(0));
        check("a", 0, None);
    }
}
