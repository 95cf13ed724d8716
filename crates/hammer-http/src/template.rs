//! Texts with placeholders: `${seq}`, `${uuid}`, `${random:N}`, `${hex:N}`, and the names of values and of what was taken from an answer.

use std::fmt;

/// A text of a plan with what is put into it for each operation. `$${` stands for a `${` that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// It stands as it is.
    Text(String),
    /// Something is put there.
    Placeholder(Placeholder),
}

/// Where something is put into a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder {
    /// How it is written there; as the place wants it where that is left to it.
    pub(crate) encoding: Option<Encoding>,
    /// What is put there.
    pub(crate) of: PlaceholderKind,
}

/// What is put into a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlaceholderKind {
    /// The operation's number, from 0.
    Seq,
    /// A UUID of version 4 (RFC 9562 section 5.4), drawn.
    Uuid,
    /// A whole number below that, drawn.
    Random(u64),
    /// So many hexadecimal digits, drawn.
    Hex(usize),
    /// A value of that name, or one of its columns; or what was taken from an earlier answer.
    Named {
        /// The name.
        name: String,
        /// Behind the first dot.
        column: Option<String>,
    },
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As it is.
    Plain,
    /// Within a path and query: what cannot stand there is percent-encoded (RFC 3986 section 2.1).
    Path,
    /// All but unreserved characters are percent-encoded (RFC 3986 section 2.3).
    Url,
    /// Within a string of JSON (RFC 8259 section 7).
    Json,
}

/// Why a text has no such placeholders: a whole clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateFault {
    /// Without its end.
    #[error("`{0}` has no `}}`; write `$${{` for a `${{` that is no placeholder")]
    Open(String),
    /// Nothing, or what no value is called.
    #[error("`${{{0}}}` is no placeholder")]
    Form(String),
    /// A number that is none, or out of its range.
    #[error("`${{{of}}}` wants {expected}")]
    Number {
        /// As it was written.
        of: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// Nobody gives such a value.
    #[error(
        "`${{{name}}}` is nothing that is known here: {known}; write `$${{` for a `${{` that is no placeholder"
    )]
    Unknown {
        /// The name.
        name: String,
        /// What is.
        known: String,
    },
}

impl Template {
    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateFault> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                rest = &from[2..];
                continue;
            }
            plain.push_str(before);
            let Some(end) = from.find('}') else {
                return Err(TemplateFault::Open(from.chars().take(LONGEST_SHOWN).collect()));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Placeholder(Placeholder::parse(&from[2..end])?));
            rest = &from[end + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Its parts, in order.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The text where nothing is put into it.
    pub(crate) fn fixed(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with that one in place of all placeholders.
    pub(crate) fn with(&self, stand_in: &str) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Placeholder(_) => stand_in.to_owned(),
        };
        self.0.iter().map(piece).collect()
    }

    /// The names that are put into it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Placeholder(Placeholder { of: PlaceholderKind::Named { name, .. }, .. }) => {
                Some(name.as_str())
            }
            _ => None,
        })
    }
}

impl Placeholder {
    fn parse(text: &str) -> Result<Self, TemplateFault> {
        let (encoding, of) = match text.split_once(':') {
            Some(("url", of)) => (Some(Encoding::Url), of),
            Some(("json", of)) => (Some(Encoding::Json), of),
            _ => (None, text),
        };
        let number = |digits: &str, most: u64, expected| {
            let number = digits.parse::<u64>().ok().filter(|number| (1..=most).contains(number));
            number.ok_or(TemplateFault::Number { of: text.to_owned(), expected })
        };
        let of = match of.split_once(':') {
            Some(("random", below)) => PlaceholderKind::Random(number(below, u64::MAX, BELOW)?),
            Some(("hex", digits)) => PlaceholderKind::Hex(number(digits, MOST_DIGITS, DIGITS)? as usize),
            _ if of == "seq" => PlaceholderKind::Seq,
            _ if of == "uuid" => PlaceholderKind::Uuid,
            _ if of == "random" => {
                return Err(TemplateFault::Number { of: text.to_owned(), expected: BELOW });
            }
            _ if of == "hex" => {
                return Err(TemplateFault::Number { of: text.to_owned(), expected: DIGITS });
            }
            _ => {
                let (name, column) = match of.split_once('.') {
                    Some((name, column)) => (name, Some(column.to_owned())),
                    None => (of, None),
                };
                if name.is_empty() || name.contains([' ', '$', '{', '"']) {
                    return Err(TemplateFault::Form(text.chars().take(LONGEST_SHOWN).collect()));
                }
                PlaceholderKind::Named { name: name.to_owned(), column }
            }
        };
        Ok(Self { encoding, of })
    }
}

impl Encoding {
    /// Appends `value` as it is written.
    pub(crate) fn write(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Plain => out.extend_from_slice(value),
            Self::Path => percent_encode(value, is_of_path, out),
            Self::Url => percent_encode(value, is_unreserved, out),
            Self::Json => {
                let text = serde_json::Value::from(String::from_utf8_lossy(value)).to_string();
                // Without its quotation marks.
                out.extend_from_slice(&text.as_bytes()[1..text.len() - 1]);
            }
        }
    }
}

fn percent_encode(value: &[u8], stays: fn(u8) -> bool, out: &mut Vec<u8>) {
    for &byte in value {
        if stays(byte) {
            out.push(byte);
        } else {
            out.push(b'%');
            out.extend([byte >> 4, byte & 15].map(hex_digit).map(|digit| digit.to_ascii_uppercase()));
        }
    }
}

/// The digit of a number below 16, as a small letter above 9.
pub(crate) const fn hex_digit(nibble: u8) -> u8 {
    b"0123456789abcdef"[nibble as usize]
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// What may stand in a path and query; `%` too, since a value may be encoded already, and no `#`, behind which nothing is sent.
fn is_of_path(byte: u8) -> bool {
    is_unreserved(byte) || b"!$&'()*+,;=:@/?%".contains(&byte)
}

impl fmt::Display for PlaceholderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seq => f.write_str("seq"),
            Self::Uuid => f.write_str("uuid"),
            Self::Random(below) => write!(f, "random:{below}"),
            Self::Hex(digits) => write!(f, "hex:{digits}"),
            Self::Named { name, column: None } => f.write_str(name),
            Self::Named { name, column: Some(column) } => write!(f, "{name}.{column}"),
        }
    }
}

/// What values cannot be called.
pub(crate) const OWN_NAMES: [&str; 6] = ["seq", "uuid", "random", "hex", "url", "json"];

const LONGEST_SHOWN: usize = 40;
const MOST_DIGITS: u64 = 65_536;
const BELOW: &str = "what the number is below, as in ${random:1000}";
const DIGITS: &str = "the number of digits, 1 to 65536, as in ${hex:32}";

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, column: Option<&str>) -> PlaceholderKind {
        PlaceholderKind::Named { name: name.to_owned(), column: column.map(str::to_owned) }
    }

    #[test]
    fn a_text_has_its_placeholders_and_everything_else_as_it_is() {
        let template = Template::parse(r#"{"a": ${seq}, "b": "$5 ${json:row.name}$"}"#).unwrap();
        let placeholder = |encoding, of| Piece::Placeholder(Placeholder { encoding, of });
        assert_eq!(
            template.pieces(),
            [
                Piece::Text(r#"{"a": "#.to_owned()),
                placeholder(None, PlaceholderKind::Seq),
                Piece::Text(r#", "b": "$5 "#.to_owned()),
                placeholder(Some(Encoding::Json), named("row", Some("name"))),
                Piece::Text(r#"$"}"#.to_owned()),
            ]
        );
        assert_eq!(template.names().collect::<Vec<_>>(), ["row"]);
        assert_eq!(Template::parse("a $${HOME} b").unwrap().fixed(), Some("a ${HOME} b"));
        assert_eq!(Template::parse("").unwrap().fixed(), Some(""));
        assert_eq!(Template::parse("$$").unwrap().fixed(), Some("$$"));
        assert_eq!(Template::parse("/${a}/${b}").unwrap().with("0"), "/0/0");
    }

    #[test]
    fn what_is_no_placeholder_is_refused_with_how_it_is_written() {
        for (text, part) in [
            ("a ${seq", "`${seq` has no `}`; write `$${`"),
            ("${}", "`${}` is no placeholder"),
            ("${a b}", "`${a b}` is no placeholder"),
            ("${random}", "wants what the number is below, as in ${random:1000}"),
            ("${random:0}", "wants what the number is below"),
            ("${hex:99999}", "the number of digits, 1 to 65536"),
        ] {
            let error = Template::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_value_is_written_as_its_place_wants_it() {
        let written = |encoding: Encoding, value: &str| {
            let mut out = Vec::new();
            encoding.write(value.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        let value = "a/b?c=d e\"é#%20";
        assert_eq!(written(Encoding::Plain, value), value);
        assert_eq!(written(Encoding::Path, value), "a/b?c=d%20e%22%C3%A9%23%20");
        assert_eq!(written(Encoding::Url, value), "a%2Fb%3Fc%3Dd%20e%22%C3%A9%23%2520");
        assert_eq!(written(Encoding::Json, "a\"b\n"), r#"a\"b\n"#);
    }
}
