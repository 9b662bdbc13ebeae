//! The name that was probably meant by one that nobody has.

/// Of the names that are known, the one that differs least, in no more than a quarter of its
/// letters.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (far, near) = known.into_iter().map(|it| (distance(name, it), it)).min()?;
    (far <= name.chars().count() / 4).then_some(near)
}

/// How many letters are to be put in, taken out or changed to make one of the other (Levenshtein).
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut last = at + 1;
        let mut next = vec![last];
        for (pair, right) in row.windows(2).zip(&other) {
            let [diagonal, above] = pair else { continue };
            last = (last + 1).min(above + 1).min(diagonal + usize::from(letter != *right));
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_in_letters() {
        for (one, other, want) in
            [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("a", "b", 1)]
        {
            assert_eq!(distance(one, other), want, "{one} {other}");
            assert_eq!(distance(other, one), want, "{one} {other}");
        }
    }

    #[test]
    fn what_is_too_far_was_not_meant() {
        let known = ["retention.ms", "retention.bytes"];
        assert_eq!(nearest("retention.mss", known), Some("retention.ms"));
        assert_eq!(nearest("retain", known), None);
    }
}
