//! `$NAME`, `${NAME}` and their like in a value of an env file, as Compose replaces them.

/// What stands for a name that is said before, or in the environment.
pub(super) type Known<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

const MISSING: &str = "`${NAME:?..}` wants a variable that nobody sets";

/// `text` with what its names stand for; `$$` is a dollar. What Compose would refuse stays as it is:
/// `docker run --env-file` takes it so.
///
/// # Errors
/// It insists on a variable that is not set.
pub(super) fn interpolate(text: &str, known: Known<'_>) -> Result<String, &'static str> {
    let mut replaced = String::with_capacity(text.len());
    let mut left = text;
    while let Some((before, behind)) = left.split_once('$') {
        replaced.push_str(before);
        left = if let Some(rest) = behind.strip_prefix('$') {
            replaced.push('$');
            rest
        } else if let Some((inside, rest)) = behind.strip_prefix('{').and_then(to_closing_brace) {
            match braced(inside, known)? {
                Some(value) => replaced.push_str(&value),
                None => replaced.extend(["${", inside, "}"]),
            }
            rest
        } else {
            let (name, rest) = name(behind);
            match name {
                "" => replaced.push('$'),
                name => replaced.push_str(known(name).unwrap_or_default()),
            }
            rest
        };
    }
    replaced.push_str(left);
    Ok(replaced)
}

/// The name at the beginning, which may be empty, and what stands behind it.
fn name(text: &str) -> (&str, &str) {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let end = text.find(|it| !is_of_name(it)).unwrap_or(text.len());
    let end = if text.starts_with(|it: char| it.is_ascii_digit()) { 0 } else { end };
    text.split_at_checked(end).unwrap_or(("", text))
}

/// What stands before the brace that closes one, and behind it; others may be opened between.
fn to_closing_brace(text: &str) -> Option<(&str, &str)> {
    let mut open = 1_u32;
    for (at, letter) in text.char_indices() {
        let before = text.get(..at)?;
        match letter {
            '{' if before.ends_with('$') => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((before, text.get(at + 1..)?));
        }
    }
    None
}

/// What `${inside}` stands for; None where it is of no form that is known.
fn braced(inside: &str, known: Known<'_>) -> Result<Option<String>, &'static str> {
    let (name, rest) = name(inside);
    if name.is_empty() {
        return Ok(None);
    }
    let (counts_empty, form) = match rest.strip_prefix(':') {
        Some(form) => (false, form),
        None => (true, rest),
    };
    let found = known(name).filter(|value| counts_empty || !value.is_empty());
    let value = if rest.is_empty() {
        found.unwrap_or_default().to_owned()
    } else if let Some(otherwise) = form.strip_prefix('-') {
        found.map_or_else(|| interpolate(otherwise, known), |value| Ok(value.to_owned()))?
    } else if let Some(instead) = form.strip_prefix('+') {
        found.map_or(Ok(String::new()), |_| interpolate(instead, known))?
    } else if form.starts_with('?') {
        found.ok_or(MISSING)?.to_owned()
    } else {
        return Ok(None);
    };
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, &'static str>) {
        let known = |name: &str| match name {
            "A" => Some("1"),
            "EMPTY" => Some(""),
            _ => None,
        };
        assert_eq!(interpolate(text, &known), want.map(str::to_owned), "{text}");
    }

    #[test]
    fn a_name_stands_for_what_it_says() {
        check("$A-${A}.$NONE${NONE}x", Ok("1-1.x"));
        check("grün$A", Ok("grün1"));
        check("$Ab", Ok(""));
        check("$$A $${A}", Ok("$A ${A}"));
    }

    #[test]
    fn what_is_not_set_may_be_said_in_the_braces() {
        check("${NONE:-x}${NONE-y}${A:-z}${A-z}", Ok("xy11"));
        check("${EMPTY:-x}${EMPTY-y}", Ok("x"));
        check("${NONE:-${EMPTY:-$A}}}", Ok("1}"));
        check("${A:+x}${A+y}${EMPTY:+x}${EMPTY+y}${NONE+z}", Ok("xyy"));
        check("${A:?}${EMPTY?why}", Ok("1"));
        check("${EMPTY:?why}", Err(MISSING));
        check("${NONE?}", Err(MISSING));
    }

    #[test]
    fn what_is_no_name_stays() {
        for text in ["$", "a$", "$1", "$ A", "${", "${A", "${1}", "${A!}", "${}"] {
            check(text, Ok(text));
        }
    }
}
