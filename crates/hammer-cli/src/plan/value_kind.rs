//! What readers of values call the kind of one, in the words of who writes plans.

use crate::args::address::EXPECTED as LISTEN_ADDRESS;

/// What a reader of values says against one of another kind than can stand there; none where it says something else.
pub(super) fn misplaced(message: &str) -> Option<String> {
    if message.starts_with("invalid socket address syntax") {
        return Some(LISTEN_ADDRESS.to_owned());
    }
    let of_kind = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let (found, expected) = match of_kind {
        Some(rest) => rest.split_once(", expected ")?,
        None => {
            let (length, expected) = message.strip_prefix("invalid length ")?.split_once(", expected ")?;
            return Some(format!("expected {}, and found {length}", kind(expected)));
        }
    };
    let advice = match (found.starts_with("boolean"), is_text(expected)) {
        (true, true) => "; put it in quotes, since YAML reads yes, no, on and off so",
        (false, true) if !found.starts_with(['s', 'm']) => "; put it in quotes",
        _ => "",
    };
    Some(format!("expected {}, and found {}{advice}", kind(expected), value(found)))
}

fn is_text(expected: &str) -> bool {
    expected.contains("string") || expected.starts_with("a word") || expected == "path string"
}

/// What the reader calls the kind of value that can stand there.
fn kind(expected: &str) -> String {
    let known = match expected {
        "a string" | "string" | "str" | "path string" | "a borrowed string" => "a text",
        "a boolean" | "bool" => "true or false",
        "a sequence" => "a list",
        "a map" | "map" => "keys with values",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "newtype variant" | "struct variant" => "that word as a key, with a value behind it",
        "string or map" => "a word, or a map with one key",
        _ if expected.starts_with("struct ") || expected.starts_with("internally tagged enum ") => {
            "keys with values"
        }
        _ => return expected.to_owned(),
    };
    known.to_owned()
}

/// What the reader calls the value that stands there.
fn value(found: &str) -> String {
    if let Some(number) = between(found, "integer `", "`").or_else(|| between(found, "floating point `", "`"))
    {
        return format!("the number {number}");
    }
    match found {
        "null" | "unit value" | "Option value" => "nothing".to_owned(),
        "sequence" => "a list".to_owned(),
        "unit variant" => "the word alone".to_owned(),
        "map" => "keys with values".to_owned(),
        "boolean `true`" => "true".to_owned(),
        "boolean `false`" => "false".to_owned(),
        _ => match found.strip_prefix("string ") {
            Some(text) => format!("the text {text}"),
            None => found.to_owned(),
        },
    }
}

/// What stands in `text` between that start and the next `end`.
pub(super) fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(start)?;
    rest.find(end).map(|at| &rest[..at])
}
