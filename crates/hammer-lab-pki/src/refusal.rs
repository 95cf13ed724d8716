//! What the service refuses, in its own words (restpki-client 1.3.1: `RestPkiError`, `ValidationError`, `RestError`).

use hammer_lab::serve::answer::{self, AnswerBody};
use http::{Response, StatusCode};
use serde_json::{Value, json};

/// An answer that is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    status: StatusCode,
    body: Value,
}

impl Refusal {
    /// 422 with a code.
    pub(crate) fn code(code: &str, detail: &str) -> Self {
        let body = json!({ "code": code, "message": code, "detail": detail });
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, body }
    }

    /// 422 for what did not pass validation.
    pub(crate) fn validation(kind: &str, message: &str) -> Self {
        let results = json!({
            "errors": [{ "type": kind, "message": message, "detail": null, "innerValidationResults": null }],
            "warnings": [],
            "passedChecks": [],
        });
        let body = json!({ "code": "ValidationError", "message": "Validation failed", "validationResults": results });
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, body }
    }

    /// Another status with a message.
    pub(crate) fn status(status: StatusCode, message: &str) -> Self {
        Self { status, body: json!({ "message": message }) }
    }

    /// What did not pass validation, where that is why it is refused.
    pub(crate) fn validation_results(&self) -> Option<&Value> {
        self.body.get("validationResults")
    }

    /// A token that was never given, was used, or is too old.
    pub(crate) fn no_token() -> Self {
        Self::code("TokenNotFound", "the token was not given, was used, or is expired")
    }

    /// What went wrong here, and is nobody's fault who asked.
    pub(crate) fn internal(why: &dyn std::fmt::Display) -> Self {
        Self::code("InternalError", &why.to_string())
    }

    pub(crate) fn answer(&self) -> Response<AnswerBody> {
        let mut answer = answer::json(self.body.to_string());
        *answer.status_mut() = self.status;
        answer
    }
}
