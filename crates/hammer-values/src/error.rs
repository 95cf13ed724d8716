//! Why a text or a number is no such value.

use std::borrow::Cow;

/// A value that cannot be; the text is a whole clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is written in another way.
    #[error("`{}` is no {expected}", visible(text))]
    Form {
        /// As it was given.
        text: String,
        /// What was expected, with examples.
        expected: &'static str,
    },
    /// It is less than the least one.
    #[error("it must be {least} at least")]
    Below {
        /// The least one, as it is written.
        least: String,
    },
    /// It is more than the greatest one.
    #[error("it must be {most} at most")]
    Above {
        /// The greatest one, as it is written.
        most: String,
    },
}

impl ValueError {
    /// What is less than `least`.
    pub fn below(least: impl Into<String>) -> Self {
        Self::Below { least: least.into() }
    }

    /// What is more than `most`.
    pub fn above(most: impl Into<String>) -> Self {
        Self::Above { most: most.into() }
    }
}

/// The same with the escape of each control character in its place: a line break would tear the clause apart.
fn visible(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        false => text.into(),
        true => text
            .chars()
            .fold(String::new(), |visible, letter| match letter.is_control() {
                true => visible + &letter.escape_default().to_string(),
                false => visible + letter.encode_utf8(&mut [0; 4]),
            })
            .into(),
    }
}
