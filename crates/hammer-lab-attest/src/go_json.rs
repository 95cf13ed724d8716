//! JSON text as Go's `encoding/json` writes it.

use std::fmt::Write as _;

/// Appends a string with its quotes. As in Go, `<`, `>`, `&` and the line separators of JavaScript are escaped too.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // A string takes whatever is written to it.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// A string with its quotes.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

/// An array of strings.
pub(crate) fn strings(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| string(text)).collect();
    format!("[{}]", texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_escaped_as_in_go_and_reads_back_as_it_was() {
        let text = "a \"b\" \\ <c> & \n\r\t\u{8}\u{c}\u{1}\u{2028} ü";
        let json = string(text);
        assert_eq!(json, r#""a \"b\" \\ \u003cc\u003e \u0026 \n\r\t\b\f\u0001\u2028 ü""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert_eq!(strings(&["a", "b"]), r#"["a","b"]"#);
    }
}
