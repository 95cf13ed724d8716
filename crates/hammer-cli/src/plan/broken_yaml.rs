//! What a reader of YAML says against a text that is none, in the words of who writes plans.

use std::borrow::Cow;

use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter};

use super::value_kind::misplaced;

/// What a reader of YAML says, without the names of what it is made of.
pub(crate) struct PlainYamlWords;

impl MessageFormatter for PlainYamlWords {
    fn format_message<'a>(&self, error: &'a Error) -> Cow<'a, str> {
        match error {
            Error::Message { msg, .. } => msg.into(),
            Error::DuplicateMappingKey { key: Some(key), .. } => {
                format!("the key `{key}` stands here twice").into()
            }
            Error::DuplicateMappingKey { key: None, .. } => "a key stands here twice".into(),
            Error::MultipleDocuments { .. } => "a second document starts here; a plan is one".into(),
            Error::UnknownAnchor { .. } => {
                "no value above has the name that stands behind `*`; `&` would give it one".into()
            }
            Error::RecursiveReferencesRequireWeakTypes { .. } => "it is a part of itself".into(),
            Error::Eof { .. } => "the file ends in the middle of something".into(),
            Error::MergeValueNotMapOrSeqOfMaps { .. } => {
                "`<<` takes keys with values from another place, and these are none".into()
            }
            Error::Unexpected { expected: "sequence start", .. } => "expected a list".into(),
            Error::Unexpected { expected: "mapping start", .. } => "expected keys with values".into(),
            Error::Unexpected { expected: "string scalar" | "scalar", .. } => {
                "expected a text or a number".into()
            }
            Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => TOO_LARGE.into(),
            Error::SerdeUnknownField { field, expected, .. } => {
                format!("unknown key `{field}`; the keys here are {}", expected.join(", ")).into()
            }
            Error::SerdeInvalidType { .. } | Error::SerdeInvalidValue { .. } => {
                let said = UserMessageFormatter.format_message(error);
                misplaced(&said).map_or(said, Cow::from)
            }
            Error::SerdeMissingField { field, .. } => format!("`{field}` is not given").into(),
            _ => match UserMessageFormatter.format_message(error) {
                Cow::Borrowed(message) => plain(message).into(),
                Cow::Owned(message) => plain(&message).to_owned().into(),
            },
        }
    }
}

fn plain(message: &str) -> &str {
    let known = PLAIN.iter().find(|(part, _)| message.contains(part));
    known.map_or(message, |(_, words)| words)
}

const TOO_LARGE: &str = "the file is too large, or nests too deeply";
const INDENTED: &str = "it does not stand where its neighbours do: lines of one block start in one column";

/// A part of what the parser says, and what is said instead.
const PLAIN: [(&str, &str); 31] = [
    ("multiline quoted scalar", "a text in quotes is not closed above this line"),
    ("invalid indentation in flow construct", "a list or keys in brackets are not closed above this line"),
    ("illegal placement of ':'", "a `:` where no key can stand: is a bracket above not closed?"),
    ("unexpected character", "no text starts with this sign unless it is in quotes"),
    ("simple key expected ':'", "a key without the `:` behind it"),
    ("simple key is no longer valid", "a key without the `:` behind it"),
    (
        "mapping values are not allowed",
        "a `:` where no key can stand: a text with `: ` in it is put in quotes, and lines of one block start in one column",
    ),
    (
        "mapping keys are not allowed",
        "a key where none can stand: is the line indented as its neighbours are?",
    ),
    ("found a tab", "a tab where a space belongs"),
    ("tabs disallowed", TAB),
    ("tab cannot be used as indentation", TAB),
    ("parsing a flow sequence, expected", "expected `,` or `]`: a list in brackets is not closed"),
    ("EOF while parsing a flow sequence", "a list in brackets is not closed: `]` is missing"),
    (
        "parsing a flow mapping, did not find",
        "expected `,` or `}`: keys in braces are not closed, or a text with `${` in it lacks its quotation marks",
    ),
    ("EOF while parsing a flow mapping", "keys in braces are not closed: `}` is missing"),
    ("EOF while parsing an implicit flow mapping", "a list in brackets is not closed: `]` is missing"),
    ("unclosed bracket '['", "a list in brackets is not closed: `]` is missing"),
    ("unclosed bracket '{'", "keys in braces are not closed: `}` is missing"),
    ("misplaced bracket", "a bracket that closes nothing"),
    ("unclosed quote", "a text in quotes is not closed"),
    ("trailing content after", "something stands behind the quote that ends a text"),
    (
        "unknown escape character",
        "a `\\` in double quotes, and behind it what it cannot have: use single quotes",
    ),
    (
        "did not find expected <document start>",
        "it is no YAML: a plan is keys with values, such as `workloads:`",
    ),
    ("limits breached", TOO_LARGE),
    ("invalid u64", "expected a whole number"),
    ("did not find expected key", INDENTED),
    ("did not find expected '-' indicator", INDENTED),
    ("invalid indentation", INDENTED),
    (
        "block sequence entries are not allowed",
        "a `- ` where no list can stand: is the line indented as its neighbours are?",
    ),
    ("did not find expected node content", "a value is missing here"),
    ("recursion limit exceeded", TOO_LARGE),
];
const TAB: &str = "a tab indents this line; YAML is indented by spaces";
