//! How the image `wurstmeister/kafka` splits `KAFKA_CREATE_TOPICS`: its separator is the `IFS` of a
//! shell, and each character of that ends a topic.

/// What stands for a character where no line can hold it. That image's page says `$'\n'`, of which
/// Compose leaves one or the other by how it is quoted.
const ESCAPES: [(&str, &str); 3] = [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t")];

/// What a topic may say: its name, partitions, replicas and cleanup policy. More is not looked at.
const FIELDS_MAX: usize = 4;

/// The topics as `highwater.create.topics` has them, each once.
pub(super) fn list(topics: &str, separators: &str) -> String {
    let is_escaped = ESCAPES.iter().any(|(written, _)| separators.contains(written));
    let (topics, separators) = match is_escaped {
        true => (unescape(topics), unescape(separators)),
        false => (topics.to_owned(), separators.to_owned()),
    };
    let mut items: Vec<String> = Vec::new();
    for item in topics.split(|it| separators.contains(it)).map(topic) {
        if !item.is_empty() && !items.contains(&item) {
            items.push(item);
        }
    }
    items.join(",")
}

/// Where commas do not stand between topics, they do between cleanup policies.
fn topic(text: &str) -> String {
    let fields: Vec<&str> = text.split(':').map(str::trim).take(FIELDS_MAX).collect();
    fields.join(":").trim_matches(',').replace(',', "+")
}

fn unescape(text: &str) -> String {
    let put = |text: String, (written, meant): &(&str, &str)| text.replace(written, meant);
    ESCAPES.iter().fold(text.to_owned(), put)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_of_the_separator_ends_a_topic() {
        for (topics, separators, want) in [
            ("a:1:1, b:2:1:compact,", ",", "a:1:1,b:2:1:compact"),
            ("a:1:1\nb:2:1\n", "\n", "a:1:1,b:2:1"),
            ("  a:1:1 \r\n\n  b:2:1", "\n", "a:1:1,b:2:1"),
            ("a:1:1 b:2:1  c:1:1", " ", "a:1:1,b:2:1,c:1:1"),
            ("a:1:1;b:2:1|c:1:1", "|;", "a:1:1,b:2:1,c:1:1"),
            ("a:1:1\none:2:1", "$'\n'", "a:1:1,one:2:1"),
            ("a:1:1\none:2:1", "$'\\n'", "a:1:1,one:2:1"),
            ("a:1:1\\none:2:1", "\\n", "a:1:1,one:2:1"),
            ("a:1:1:compact,delete\nb:1:1,\n", "\n", "a:1:1:compact+delete,b:1:1"),
        ] {
            assert_eq!(list(topics, separators), want, "{topics:?} by {separators:?}");
        }
    }

    #[test]
    fn a_topic_is_wanted_once_and_by_four_fields() {
        assert_eq!(list("a:1:1,b:1:1, a:1:1,a:2:1", ","), "a:1:1,b:1:1,a:2:1");
        assert_eq!(list("a:1:1:compact:x,b:1:1::", ","), "a:1:1:compact,b:1:1:");
        assert_eq!(list(":1:1,a", ","), ":1:1,a");
    }
}
