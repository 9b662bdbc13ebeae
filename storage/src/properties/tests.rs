//! What Java makes of a text, line by line.

use super::{Malformed, parse};

#[track_caller]
fn check(text: &str, want: &[(usize, &str, &str)]) {
    let got = parse(text.as_bytes()).unwrap();
    let got: Vec<_> = got.iter().map(|it| (it.line, &*it.name, &*it.value)).collect();
    assert_eq!(got, want);
}

#[test]
fn names_and_values_are_parted_as_java_parts_them() {
    check("a=b", &[(1, "a", "b")]);
    check("a:b=c", &[(1, "a", "b=c")]);
    check("a b c ", &[(1, "a", "b c ")]);
    check("  a \t = \t b", &[(1, "a", "b")]);
    check("a = : b", &[(1, "a", ": b")]);
    check("a", &[(1, "a", "")]);
    check("a=", &[(1, "a", "")]);
    check("=b", &[(1, "", "b")]);
    check("listeners=PLAINTEXT://:9092", &[(1, "listeners", "PLAINTEXT://:9092")]);
    check("a\\=b\\:c\\ d=e", &[(1, "a=b:c d", "e")]);
}

#[test]
fn comments_blank_lines_and_ends_of_lines_do_not_count() {
    check("#a=b\n ! c=d\n\n \t\na=1\r\nb=2\rc=3", &[(5, "a", "1"), (6, "b", "2"), (7, "c", "3")]);
    check("a=1 # not a comment", &[(1, "a", "1 # not a comment")]);
    check("\u{feff}a=1", &[(1, "a", "1")]);
    check("", &[]);
}

#[test]
fn a_line_goes_on_behind_an_odd_backslash() {
    check("a=b,\\\n   c,\\\r\n\td\ne=f", &[(1, "a", "b,c,d"), (4, "e", "f")]);
    check("a=b\\\\\nc=d", &[(1, "a", "b\\"), (2, "c", "d")]);
    check("a=b\\\n#c", &[(1, "a", "b#c")]);
    check("#a\\\nb=c", &[(2, "b", "c")]);
    check("a=b\\", &[(1, "a", "b")]);
}

#[test]
fn escapes_are_taken_away() {
    check("a=\\t\\n\\r\\f\\q\\\\", &[(1, "a", "\t\n\r\u{c}q\\")]);
    check("a=\\u00e9\\uD83D\\uDE00\\ud83d", &[(1, "a", "\u{e9}\u{1f600}\u{fffd}")]);
    let why = "`\\u` wants four hex digits behind it";
    assert_eq!(parse(b"a=1\nb=\\u12"), Err(Malformed { line: 2, why }));
    assert_eq!(parse(b"a=\\u+123"), Err(Malformed { line: 1, why }));
}

#[test]
fn bytes_that_are_not_utf8_are_latin_1() {
    assert_eq!(parse(b"a=\xe9").unwrap()[0].value, "\u{e9}");
    assert_eq!(parse("a=\u{e9}".as_bytes()).unwrap()[0].value, "\u{e9}");
    assert_eq!(parse(b"\xef\xbb\xbfa=\xe9").unwrap()[0].name, "a");
}

#[test]
fn what_is_no_text_is_refused() {
    let utf16: Vec<u8> = "\u{feff}a=1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(parse(&utf16).unwrap_err().line, 1);
    assert_eq!(parse(b"a=1\nb=\0").unwrap_err().line, 2);
}
