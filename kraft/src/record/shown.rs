//! A message's fields by name, for people and tools to read.

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Ids too.
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Shown>),
    Fields(Vec<(&'static str, Shown)>),
}

/// Puts a field, if it is there, before the first of others.
pub(super) fn move_before(fields: &mut Vec<(&'static str, Shown)>, name: &str, others: &[&str]) {
    let to = fields.iter().position(|(it, _)| others.contains(it));
    let from = fields.iter().position(|(it, _)| *it == name);
    if let (Some(to), Some(from)) = (to, from)
        && to < from
    {
        let field = fields.remove(from);
        fields.insert(to, field);
    }
}
