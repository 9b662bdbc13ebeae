//! `key=value`, as an argument.

/// Reads one; spaces around either are no part of it.
///
/// # Errors
/// There is no key, or no `=`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("a key, `=` and a value, as in retention.ms=86400000".to_owned()),
    }
}
