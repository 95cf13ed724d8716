use super::response::TimestampResponse;
use super::status::StatusInfo;

/// The media type of a query over HTTP (RFC 3161 section 3.4).
pub const QUERY_MEDIA_TYPE: &str = "application/timestamp-query";
/// The media type of what it is replied with.
pub const REPLY_MEDIA_TYPE: &str = "application/timestamp-reply";

/// Why what came over HTTP with a success is no timestamp, and does not say that it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplyFault<'a> {
    /// It is of another media type: a page of somebody else's, as a rule.
    #[error("the answer is no application/timestamp-reply")]
    MediaType,
    /// The authority refuses: it gives no token, and says so.
    #[error("the status is {0}")]
    NotGranted(StatusInfo<'a>),
}

impl ReplyFault<'_> {
    /// The same in a few words for a count of causes.
    pub fn cause(&self) -> &'static str {
        match self {
            Self::MediaType => "answer of another media type",
            Self::NotGranted(info) => info.cause(),
        }
    }
}

/// Looks at what a query over HTTP was answered with, of that `Content-Type` (RFC 3161 section 3.4). A body that cannot be read, or that
/// grants a token which is not there, claims to be a timestamp all the same: [`super::TimestampVerifier`] says what is wrong with it.
///
/// # Errors
/// It is of another media type, or a refusal.
pub fn check_reply<'a>(content_type: Option<&[u8]>, body: &'a [u8]) -> Result<(), ReplyFault<'a>> {
    if !content_type.is_some_and(is_reply) {
        return Err(ReplyFault::MediaType);
    }
    match TimestampResponse::parse(body) {
        Ok(response) if !response.status.status.is_granted() => Err(ReplyFault::NotGranted(response.status)),
        _ => Ok(()),
    }
}

/// Names of media types have no case, and may have parameters behind them (RFC 9110 section 8.3.1).
fn is_reply(content_type: &[u8]) -> bool {
    let name = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(REPLY_MEDIA_TYPE.as_bytes())
}
