//! What is not answered as asked, in Rekor's words.

use http::StatusCode;

/// An answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RekorRefusal {
    pub(crate) status: StatusCode,
    /// The code in the body: the status, or that of the schema's rule that was broken.
    pub(crate) code: u16,
    /// Empty where there is no body.
    pub(crate) message: String,
    /// The path of the entry that is there already.
    pub(crate) location: Option<String>,
}

impl RekorRefusal {
    pub(crate) fn of(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: status.as_u16(), message: message.into(), location: None }
    }

    /// What the entry says does not hold.
    pub(crate) fn entry(reason: impl std::fmt::Display) -> Self {
        Self::of(StatusCode::BAD_REQUEST, format!("error processing entry: {reason}"))
    }

    /// A key that the schema asks for is missing: `name` is `kind in body`.
    pub(crate) fn required(name: &str) -> Self {
        Self::schema(602, format!("{name} is required"))
    }

    /// A value breaks a rule of the schema; `code` is go-openapi's.
    pub(crate) fn schema(code: u16, message: impl Into<String>) -> Self {
        Self { code, ..Self::of(StatusCode::UNPROCESSABLE_ENTITY, message) }
    }

    /// There is no such entry: no body.
    pub(crate) fn not_found() -> Self {
        Self::of(StatusCode::NOT_FOUND, "")
    }

    /// Trillian took the entry badly.
    pub(crate) fn unexpected_result() -> Self {
        Self::of(StatusCode::INTERNAL_SERVER_ERROR, "unexpected result from transparency log")
    }

    /// The entry is there already.
    pub(crate) fn duplicate(uuid: &str) -> Self {
        let message = format!("an equivalent entry already exists in the transparency log with UUID {uuid}");
        let location = Some(format!("/api/v1/log/entries/{uuid}"));
        Self { location, ..Self::of(StatusCode::CONFLICT, message) }
    }
}
