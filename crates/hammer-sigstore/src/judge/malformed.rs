//! Answers that do not even have the form of what was promised.

use hammer_core::promise::Fault;

/// What is wrong with the form.
pub(crate) fn malformed(detail: impl Into<String>) -> Fault {
    Fault::new("malformed-answer", detail)
}
