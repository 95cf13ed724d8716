//! The document of a session.

use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_tlog::encoding::write_base64;
use http::{HeaderMap, Response, StatusCode};

use super::state::{Session, Stage};
use crate::{go_json, lab_time::rfc3339_nano, plan::Release};

/// The media type of the document.
pub(crate) const SESSION_TYPE: &str = "application/vnd.veraison.challenge-response-session+json";

/// How sessions of a release are written.
#[derive(Debug)]
pub(crate) struct SessionText {
    /// The array of media types that are taken.
    accept: String,
}

impl SessionText {
    pub(crate) fn new(release: Release) -> Self {
        Self { accept: go_json::strings(release.evidence_types()) }
    }

    /// An answer with the session.
    pub(crate) fn answer(&self, status: StatusCode, session: &Session) -> Response<AnswerBody> {
        let text = self.write(session);
        let mut answer = match text.len() {
            0..=BUFFERED => answer::ok(SESSION_TYPE, text),
            // Trailers that are none let an answer over HTTP/1.1 be chunked, as those are that Go does not buffer whole.
            _ => {
                let mut answer = answer::ok(SESSION_TYPE, Vec::new());
                *answer.body_mut() = AnswerBody::with_trailers(text, HeaderMap::new());
                answer
            }
        };
        *answer.status_mut() = status;
        answer
    }

    fn write(&self, session: &Session) -> Vec<u8> {
        let (status, appraised, is_complete) = match &session.stage {
            Stage::Waiting => ("waiting", None, false),
            Stage::Processing { appraised, .. } => ("processing", Some(appraised), false),
            Stage::Complete(appraised) => ("complete", Some(appraised), true),
            Stage::Failed => ("failed", None, false),
        };
        let long = appraised.map_or(0, |it| it.evidence.len() * 4 / 3 + it.result.len() + 128);
        let mut out = Vec::with_capacity(self.accept.len() + 256 + long);
        let mut put = |part: &str| out.extend_from_slice(part.as_bytes());
        put(r#"{"status":""#);
        put(status);
        put(r#"","nonce":""#);
        let shown = appraised.and_then(|appraised| appraised.shown_nonce.as_deref());
        write_base64(&mut out, shown.unwrap_or(session.nonce.as_ref()));
        let mut put = |part: &str| out.extend_from_slice(part.as_bytes());
        put(r#"","expiry":""#);
        put(&rfc3339_nano(session.expires));
        put(r#"","accept":"#);
        put(&self.accept);
        if let Some(appraised) = appraised {
            put(r#","evidence":{"type":"#);
            put(&go_json::string(&String::from_utf8_lossy(&appraised.media_type)));
            put(r#","value":""#);
            write_base64(&mut out, &appraised.evidence);
            out.extend_from_slice(br#""}"#);
            if is_complete {
                out.extend_from_slice(br#","result":""#);
                out.extend_from_slice(&appraised.result);
                out.push(b'"');
            }
        }
        out.push(b'}');
        out
    }
}

/// Longest body whose length is told ahead: so much does Go keep back.
const BUFFERED: usize = 2048;
