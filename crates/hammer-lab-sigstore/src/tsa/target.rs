//! The timestamp authority behind its server.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hammer_lab::{
    FaultScript, LabError,
    clock::Clock,
    handle::{LabConfig, LabHandle, LabTarget},
    lie_rule::LieRecord,
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, EXPIRES, PRAGMA, VARY},
    request::Parts,
};

use super::{
    plan::{TsaLabPlan, TsaLieKind},
    request::{GENERIC, POLICY, from_json},
    stamp::Stamper,
};
use hammer_lab_authority::{Authority, timestamp_query::StampRequest};

/// A timestamp authority that runs.
pub type TsaLabHandle = LabHandle<TsaTarget>;

/// A timestamp authority behind its server.
#[derive(Debug)]
pub struct TsaTarget {
    stamper: Stamper,
    granted: StatusCode,
}

impl TsaTarget {
    /// The leaf that signs timestamps, and its issuers up to the root.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        self.stamper.authority()
    }

    /// The lies that were told because the plan said so, in order, and the count of those beyond the listed ones.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<LieRecord<TsaLieKind>>, u64) {
        self.stamper.told_lies()
    }

    /// PEM of the chain that is served, leaf first.
    fn chain(&self) -> String {
        self.stamper.served_chain().pem().iter().flat_map(|block| [block, "\n"]).collect()
    }

    fn timestamp(&self, headers: &HeaderMap, body: &Bytes) -> Response<AnswerBody> {
        let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media = media.unwrap_or("application/octet-stream");
        let request = match media {
            "application/timestamp-query" => StampRequest::from_der(body, POLICY).map_err(Into::into),
            "application/json" => from_json(body),
            // The server's router looks at the type alone, and what parses the body at its parameters as well.
            _ if ACCEPTED.contains(&media.split(';').next().unwrap_or_default().trim()) => Err(GENERIC),
            _ => return unsupported(media),
        };
        match request.and_then(|request| self.stamper.stamp(&request)) {
            Ok(response) => {
                let mut answer = answer::ok("application/timestamp-reply", response);
                *answer.status_mut() = self.granted;
                answer
            }
            Err(refusal) => refused(StatusCode::BAD_REQUEST, refusal.0),
        }
    }
}

impl LabConfig for TsaLabPlan {
    type Target = TsaTarget;

    const THREAD: &'static str = "lab-tsa";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<TsaTarget, LabError> {
        let stamper = Stamper::new(&self, Arc::clone(clock))?;
        let granted = if self.use_http_201 { StatusCode::CREATED } else { StatusCode::OK };
        Ok(TsaTarget { stamper, granted })
    }
}

impl LabTarget for TsaTarget {
    fn restart(&self, now: Duration) {
        self.stamper.restart(now);
    }
}

impl Target for TsaTarget {
    const ENDPOINTS: &'static [&'static str] = &[TIMESTAMP, CERTCHAIN, PING, "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        match path {
            "/api/v1/timestamp" => TIMESTAMP,
            "/api/v1/timestamp/certchain" => CERTCHAIN,
            "/ping" => PING,
            _ => "other",
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let mut answer = match (endpoint, &parts.method) {
            (TIMESTAMP, &Method::POST) => without_cache(self.timestamp(&parts.headers, &body)),
            (TIMESTAMP, method) => not_allowed(method, "POST"),
            (CERTCHAIN, &Method::GET) => cached(answer::ok(PEM_CHAIN, self.chain())),
            (CERTCHAIN, method) => not_allowed(method, "GET"),
            (PING, &Method::GET | &Method::HEAD) => answer::ok("text/plain", "."),
            _ => refused(StatusCode::NOT_FOUND, &format!("path {} was not found", parts.uri.path())),
        };
        answer.headers_mut().insert(VARY, HeaderValue::from_static("Origin"));
        answer
    }
}

/// The server's own form of an error.
fn refused(status: StatusCode, message: &str) -> Response<AnswerBody> {
    let message = serde_json::Value::from(message);
    let mut answer = answer::json(format!(r#"{{"code":{},"message":{message}}}"#, status.as_u16()));
    *answer.status_mut() = status;
    answer
}

fn unsupported(media: &str) -> Response<AnswerBody> {
    let accepted = ACCEPTED.join(" ");
    let message = format!("unsupported media type \"{media}\", only [{accepted}] are allowed");
    refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message)
}

fn not_allowed(method: &Method, allowed: &'static str) -> Response<AnswerBody> {
    let message = format!("method {method} is not allowed, but [{allowed}] are");
    let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, &message);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

fn cached(mut answer: Response<AnswerBody>) -> Response<AnswerBody> {
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=86400, immutable"));
    answer
}

fn without_cache(mut answer: Response<AnswerBody>) -> Response<AnswerBody> {
    let cache = "no-cache, no-store, no-transform, must-revalidate, private, max-age=0";
    for (name, value) in [
        (CACHE_CONTROL, cache),
        (EXPIRES, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (PRAGMA, "no-cache"),
        (HeaderName::from_static("x-accel-expires"), "0"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

const TIMESTAMP: &str = "timestamp";
const CERTCHAIN: &str = "certchain";
const PING: &str = "ping";
const PEM_CHAIN: &str = "application/pem-certificate-chain";
const ACCEPTED: [&str; 2] = ["application/json", "application/timestamp-query"];
