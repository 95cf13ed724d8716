//! Answers of the gateway and its backend before they are written out, and the two ways of writing them.

use std::num::NonZeroUsize;

use bytes::Bytes;
use hammer_lab::serve::answer::AnswerBody;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

/// An answer whose JSON can still be written in one way or another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GatewayAnswer {
    pub(crate) status: StatusCode,
    /// All but the media type.
    pub(crate) headers: HeaderMap,
    pub(crate) content: AnswerContent,
}

/// The content of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AnswerContent {
    /// None, and so no media type.
    Empty,
    /// JSON that is yet to be written.
    Json(Value),
    /// Bytes of this media type.
    Bytes { media_type: &'static str, bytes: Bytes },
}

/// How answers are written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritingStyle {
    /// JSON without white space, keys in alphabetical order, and a `content-length`.
    Usual,
    /// JSON with white space, keys in the opposite order and escaped slashes, in pieces of unknown length.
    Odd,
}

impl GatewayAnswer {
    /// An answer without content.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), content: AnswerContent::Empty }
    }

    /// An answer in JSON.
    pub(crate) fn json(status: StatusCode, value: Value) -> Self {
        Self { content: AnswerContent::Json(value), ..Self::empty(status) }
    }

    /// 200 with these bytes.
    pub(crate) fn ok(media_type: &'static str, bytes: Bytes) -> Self {
        Self { content: AnswerContent::Bytes { media_type, bytes }, ..Self::empty(StatusCode::OK) }
    }

    /// A refusal in the form of RFC 6749 section 5.2.
    pub(crate) fn error(status: StatusCode, error: &str, description: &str) -> Self {
        Self::json(status, json!({ "error": error, "error_description": description }))
    }

    /// The answer as it leaves.
    pub(crate) fn into_response(self, style: WritingStyle) -> Response<AnswerBody> {
        let (media_type, bytes) = match self.content {
            AnswerContent::Empty => (None, Bytes::new()),
            AnswerContent::Json(value) => (Some(JSON), style.json(&value)),
            AnswerContent::Bytes { media_type, bytes } => (Some(media_type), bytes),
        };
        let body = match style {
            WritingStyle::Odd if !bytes.is_empty() => AnswerBody::in_pieces(bytes, PIECE),
            _ => bytes.into(),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        let media_type = media_type.map(|name| (CONTENT_TYPE, HeaderValue::from_static(name)));
        response.headers_mut().extend(media_type);
        response
    }
}

impl WritingStyle {
    /// JSON in this style.
    pub(crate) fn json(self, value: &Value) -> Bytes {
        match self {
            Self::Usual => value.to_string().into(),
            Self::Odd => {
                let mut text = String::new();
                write_oddly(value, 0, &mut text);
                text.push('\n');
                text.into()
            }
        }
    }
}

fn write_oddly(value: &Value, depth: usize, out: &mut String) {
    let new_line = |out: &mut String, depth: usize| {
        out.push_str("\r\n");
        out.extend(std::iter::repeat_n('\t', depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { " ," });
                new_line(out, depth + 1);
                write_oddly(item, depth + 1, out);
            }
            new_line(out, depth);
            out.push(']');
        }
        Value::Object(fields) if !fields.is_empty() => {
            out.push('{');
            for (place, (name, value)) in fields.iter().rev().enumerate() {
                out.push_str(if place == 0 { "" } else { " ," });
                new_line(out, depth + 1);
                write_oddly(&Value::String(name.clone()), depth + 1, out);
                out.push_str(" : ");
                write_oddly(value, depth + 1, out);
            }
            new_line(out, depth);
            out.push('}');
        }
        // Any character of a string may be escaped (RFC 8259 section 7).
        Value::String(_) => out.push_str(&value.to_string().replace('/', "\\/")),
        plain => out.push_str(&plain.to_string()),
    }
}

pub(crate) const JSON: &str = "application/json";
/// Bytes of a piece: few, so that a small answer has several.
const PIECE: NonZeroUsize = NonZeroUsize::new(7).expect("seven is not zero");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_json_says_the_same_in_other_words() {
        let value = json!({ "a": [1, { "b": "x/y\n\"" }, [], {}], "c": null, "d/": 1.5 });
        let odd = WritingStyle::Odd.json(&value);
        assert_eq!(serde_json::from_slice::<Value>(&odd).unwrap(), value);
        let text = String::from_utf8(odd.to_vec()).unwrap();
        assert!(text.contains("x\\/y") && text.find("\"c\"") < text.find("\"a\""), "{text}");
        assert_eq!(WritingStyle::Usual.json(&value), value.to_string());
    }
}
