//! Makes two brokers' answers comparable: ids and times become names, texts become "there is one".

/// What one broker's ids were, in the order in which they were first seen.
#[derive(Default)]
pub(super) struct Normal {
    ids: Vec<String>,
}

/// Fields whose number or text is each broker's own.
const OWN: [&str; 18] = [
    "producer_id: ",
    "port: ",
    "cluster_id: ",
    "error_message: Some(",
    "documentation: Some(",
    "log_dir: ",
    "broker_epoch: ",
    "total_bytes: ",
    "usable_bytes: ",
    "last_fetch_timestamp: ",
    "last_caught_up_timestamp: ",
    "log_end_offset: ",
    "finalized_features_epoch: ",
    "high_watermark_of_metadata: ",
    "batch_index_error_message: Some(",
    "leader_epoch_of_metadata: ",
    "last_timestamp: ",
    "heartbeat_interval_ms: ",
];

impl Normal {
    /// The text with everything replaced that may differ between two brokers that agree.
    pub(super) fn text(&mut self, debug: &str) -> String {
        let mut text = debug.replace(", unknown_tagged_fields: {}", "");
        for field in OWN {
            text = blank(&text, field);
        }
        // Each broker has its own metadata log.
        if text.starts_with("DescribeQuorumResponse") {
            text = blank(&blank(&text, "leader_epoch: "), "high_watermark: ");
        }
        let text = uuids(&text);
        let text = sorted(&text, "DescribeConfigsResourceResult");
        let text = sorted(&text, "JoinGroupResponseMember");
        let text = sorted(&sorted(&text, "TopicPartitions"), "Member");
        let of_hash_maps = ["DescribedGroup", "ListedGroup", "DeletableGroupResult"];
        let text = of_hash_maps.iter().fold(text, |text, element| sorted(&text, element));
        self.numbers(&sorted(&text, "PartitionProduceResponse"))
    }

    /// Times of this century become `<time>`; session ids become `<id>`.
    fn numbers(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for word in text.split_inclusive(|it: char| !it.is_ascii_digit()) {
            let digits = word.trim_end_matches(|it: char| !it.is_ascii_digit());
            let is_time =
                digits.len() == 13 && (digits.starts_with("17") || digits.starts_with("18"));
            out.push_str(if is_time { "<time>" } else { digits });
            out.push_str(&word[digits.len()..]);
        }
        if let Some(at) = out.find("session_id: ") {
            let value: String =
                out[at + 12..].chars().take_while(|it| *it == '-' || it.is_ascii_digit()).collect();
            if value != "0" {
                self.ids.push(value.clone());
                out.replace_range(at + 12..at + 12 + value.len(), "<session>");
            }
        }
        out
    }
}

/// Each list of `element`s sorted: in Apache Kafka its order is that of a hash map, in which a topic's
/// random id may have a part.
fn sorted(text: &str, element: &str) -> String {
    let front = format!("{element} {{ ");
    let separator = format!(" }}, {front}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&format!("[{front}")) {
        let body = &rest[at + 1 + front.len()..];
        let end = close(body);
        let mut elements: Vec<&str> = body[..end].split(separator.as_str()).collect();
        elements.sort_unstable();
        out.push_str(&rest[..at + 1]);
        out.push_str(&front);
        out.push_str(&elements.join(&separator));
        rest = &body[end..];
    }
    out + rest
}

/// Where the last element of the list ends, in whose first element `body` begins.
fn close(body: &str) -> usize {
    let mut open = 1;
    let list = body.find(|it| {
        open += i32::from(it == '[') - i32::from(it == ']');
        open == 0
    });
    let end = list.expect("a list that ends");
    body[..end].strip_suffix(" }").map_or(end, str::len)
}

/// Ids become `<id>`, also at the end of a member's; the id of zeros stays.
fn uuids(text: &str) -> String {
    let is_uuid = |word: &str| {
        word.len() == 36
            && word.bytes().enumerate().all(|(at, byte)| {
                if [8, 13, 18, 23].contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() }
            })
    };
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|it: char| !(it.is_ascii_alphanumeric() || it == '-')) {
        let body = word.trim_end_matches(|it: char| !(it.is_ascii_alphanumeric() || it == '-'));
        let front = body.len().checked_sub(36).filter(|at| is_uuid(&body[*at..]));
        match front {
            Some(at) if body[at..].bytes().any(|byte| byte != b'0' && byte != b'-') => {
                out.push_str(&body[..at]);
                out.push_str("<id>");
                out.push_str(&word[body.len()..]);
            }
            _ => out.push_str(word),
        }
    }
    out
}

/// Replaces what follows each `field` up to the end of its value.
fn blank(text: &str, field: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(field) {
        let (before, from) = rest.split_at(at + field.len());
        out.push_str(before);
        out.push('_');
        let quoted = from.starts_with('"') || from.starts_with("Some(\"");
        let end = if quoted {
            let open = from.find('"').unwrap() + 1;
            let mut escaped = false;
            let close = from[open..].find(|it| {
                let ends = it == '"' && !escaped;
                escaped = it == '\\' && !escaped;
                ends
            });
            open + close.unwrap() + 1
        } else {
            from.find([',', ' ', '}', ')']).unwrap_or(from.len())
        };
        rest = &from[end..];
        if quoted && from.starts_with("Some(") && field.ends_with(": ") {
            rest = rest.strip_prefix(')').unwrap_or(rest);
        }
    }
    out + rest
}

#[test]
fn own_values_become_blanks_and_others_stay() {
    let check = |text: &str, want: &str| assert_eq!(Normal::default().text(text), want);
    check("B { port: 9092, host: \"a\" }", "B { port: _, host: \"a\" }");
    check("R { error_message: Some(\"a \\\"b\\\"\"), x: 1 }", "R { error_message: Some(_), x: 1 }");
    check("R { error_message: None }", "R { error_message: None }");
    check("C { cluster_id: Some(\"abc\"), x: 1 }", "C { cluster_id: _, x: 1 }");
    check("T { t: 1764438000123, x: 12 }", "T { t: <time>, x: 12 }");
    let configs = |a: &str, b: &str| {
        let line = |name| format!("DescribeConfigsResourceResult {{ name: {name} }}");
        format!("D {{ results: [R {{ configs: [{}, {}] }}] }}", line(a), line(b))
    };
    check(&configs("b", "a"), &configs("a", "b"));
    let produced = |lists: [&[i32]; 2]| {
        let line =
            |it: &i32| format!("PartitionProduceResponse {{ index: {it}, errors: [E {{}}] }}");
        let list = |list: &[i32]| list.iter().map(line).collect::<Vec<_>>().join(", ");
        format!(
            "P {{ responses: [T {{ p: [{}] }}, T {{ p: [{}] }}] }}",
            list(lists[0]),
            list(lists[1])
        )
    };
    check(&produced([&[1, 0], &[3, 2]]), &produced([&[0, 1], &[2, 3]]));
    check("I { id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8 }", "I { id: <id> }");
    check("M { id: \"a-6ba7b810-9dad-11d1-80b4-00c04fd430c8\" }", "M { id: \"a-<id>\" }");
}
