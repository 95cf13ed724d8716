//! Canonical JSON (OLPC), which is what signatures of a repository are over.

use serde_json::Value;

/// Appends `value` to `out`: keys in the order of their code points, no white space, in texts nothing escaped but quotation marks and
/// backslashes.
///
/// # Errors
/// A number that is no integer: the encoding has none.
pub fn canonical(value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            out.extend_from_slice(number.to_string().as_bytes());
        }
        Value::Number(number) => return Err(format!("{number} is no integer")),
        Value::String(string) => text(string, out),
        Value::Array(values) => {
            out.push(b'[');
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                canonical(value, out)?;
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            // The order of the bytes of UTF-8 is that of the code points.
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'{');
            for (place, (name, value)) in fields.into_iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                text(name, out);
                out.push(b':');
                canonical(value, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String, String> {
        let mut out = Vec::new();
        canonical(&serde_json::from_str(text).unwrap(), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn keys_are_sorted_and_texts_keep_all_but_two_characters_as_they_are() {
        let written = of(r#"{ "b": [1, -2, true, null], "a\"": "x\ny\\z", "B": {} }"#).unwrap();
        assert_eq!(written, "{\"B\":{},\"a\\\"\":\"x\ny\\\\z\",\"b\":[1,-2,true,null]}");
        assert_eq!(of("18446744073709551615").unwrap(), "18446744073709551615");
    }

    #[test]
    fn a_number_with_a_fraction_has_no_canonical_form() {
        assert!(of("1.5").is_err());
        assert!(of(r#"{"a":[1e3]}"#).is_err());
    }
}
