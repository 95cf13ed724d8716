//! The signature service behind its server.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hammer_lab::{
    FaultScript, LabError, LabHandle, LabStats,
    clock::Clock,
    handle::{LabConfig, LabTarget},
    lie_rule::LieRecord,
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};
use hammer_lab_authority::{Authority, hex};
use http::{
    HeaderValue, Method, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, ETAG},
    request::Parts,
};
use ring::digest::{SHA256, digest};
use serde_json::json;

use crate::plan::{PkiLabPlan, PkiLieKind};
use crate::refusal::Refusal;
use crate::service::{Answered, PkiService};

/// A signature service that runs; its URL has no path.
pub type PkiLabHandle = LabHandle<PkiTarget>;

/// A signature service behind its server.
#[derive(Debug)]
pub struct PkiTarget {
    service: PkiService,
    /// The whole value of the header that its callers show.
    authorization: String,
}

impl PkiTarget {
    /// The leaf that signs timestamps, and its root.
    #[must_use]
    pub fn timestamp_authority(&self) -> &Authority {
        self.service.timestamp_authority()
    }

    /// The lies that were told because the plan said so, in order, and the count of those beyond the listed ones.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<LieRecord<PkiLieKind>>, u64) {
        self.service.told_lies()
    }

    async fn answered(&self, parts: &Parts, body: &Bytes) -> Answered {
        let shown = parts.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if shown != Some(self.authorization.as_bytes()) {
            let why = "Authorization has been denied for this request.";
            return Err(Refusal::status(StatusCode::UNAUTHORIZED, why));
        }
        let path: Vec<&str> = parts.uri.path().trim_matches('/').split('/').collect();
        let service = &self.service;
        match (&parts.method, path.as_slice()) {
            (&Method::GET, ["Api", "System", "Info"]) => {
                Ok(answer::json(json!({ "productName": "REST PKI", "productVersion": VERSION }).to_string()))
            }
            (&Method::GET, ["Api", "Authentication"]) => service.nonce(false),
            (&Method::POST, ["Api", "Authentication"]) => service.authenticate(None, body).await,
            (&Method::POST, ["Api", "Authentications"]) => service.nonce(true),
            (&Method::POST, ["Api", "Authentications", token, "SignedBytes"]) => {
                service.authenticate(Some(token), body).await
            }
            (&Method::POST, ["Api", "v3", "CadesSignatures"]) => service.start_cades(body).await,
            (&Method::POST, ["Api", "v2", "PadesSignatures"]) => service.start_pades(body).await,
            (&Method::POST, ["Api", "CadesSignatures", "Open"]) => service.open(body, false).await,
            (&Method::POST, ["Api", "PadesSignatures", "Open"]) => service.open(body, true).await,
            (&Method::POST, ["Api", "v2", "CadesSignatures" | "PadesSignatures", token, "SignedBytes"]) => {
                service.finish(token, body)
            }
            (&Method::POST, ["Api", "TimestampPlans", _, "Issue"]) => service.timestamp(body),
            (&Method::POST, ["tsa"]) => {
                let media_type = parts.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
                if media_type != Some(b"application/timestamp-query") {
                    let why = "a timestamp is asked for by application/timestamp-query";
                    return Err(Refusal::status(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
                }
                service.timestamp_response(body)
            }
            (&Method::POST, ["Api", "MultipartUploads"]) => {
                let token = hex(&service.random_bytes()?);
                service.blobs.begin(token.clone());
                Ok(answer::json(json!({ "blobToken": token, "partSize": PART }).to_string()))
            }
            (&Method::POST, ["Api", "MultipartUploads", token]) if service.blobs.is_known(token) => {
                Ok(answer::json("{}"))
            }
            (&Method::POST, ["Api", "MultipartUploads", token, number]) => self.part(token, number, body),
            (&Method::GET, ["Api", "Blobs", token]) => {
                let whole = service.blobs.whole(token).map_err(|why| Refusal::internal(&why))?;
                let whole = whole.ok_or_else(|| Refusal::status(StatusCode::NOT_FOUND, "no such blob"))?;
                Ok(answer::ok("application/octet-stream", whole))
            }
            _ => Err(Refusal::status(StatusCode::NOT_FOUND, "No HTTP resource was found")),
        }
    }

    fn part(&self, token: &str, number: &str, body: &Bytes) -> Answered {
        let number = number.parse().map_err(|_| Refusal::status(StatusCode::BAD_REQUEST, "no number"))?;
        if !self.service.blobs.add(token, number, body).map_err(|why| Refusal::internal(&why))? {
            return Err(Refusal::code("BlobNotFound", token));
        }
        let mut answer = answer::json("");
        let tag = format!("\"{}\"", hex(&digest(&SHA256, body).as_ref()[..16]));
        answer.headers_mut().extend(HeaderValue::try_from(tag).ok().map(|tag| (ETAG, tag)));
        Ok(answer)
    }
}

impl LabConfig for PkiLabPlan {
    type Target = PkiTarget;

    const THREAD: &'static str = "lab-pki";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<PkiTarget, LabError> {
        let authorization = format!("Bearer {}", self.access_token);
        Ok(PkiTarget { service: PkiService::new(&self, Arc::clone(clock))?, authorization })
    }
}

impl LabTarget for PkiTarget {
    const CAN_LOSE_DATA: bool = true;

    fn with_own_stats(&self, stats: LabStats) -> LabStats {
        LabStats { revocation_lists: self.service.fetched_lists(), ..stats }
    }

    fn restart(&self, now: Duration) {
        self.service.restart(now);
    }
}

impl Target for PkiTarget {
    const ENDPOINTS: &'static [&'static str] = &[
        "info",
        "authentication",
        "cades-start",
        "cades-finish",
        "pades-start",
        "pades-finish",
        "open",
        "timestamp",
        "tsa",
        "upload",
        "blob",
        "other",
    ];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        let path: Vec<&str> = path.trim_matches('/').split('/').collect();
        match path.as_slice() {
            ["Api", "System", "Info"] => "info",
            ["Api", "Authentication" | "Authentications", ..] => "authentication",
            ["Api", "CadesSignatures" | "PadesSignatures", "Open"] => "open",
            ["Api", _, "CadesSignatures"] => "cades-start",
            ["Api", _, "CadesSignatures", ..] => "cades-finish",
            ["Api", _, "PadesSignatures"] => "pades-start",
            ["Api", _, "PadesSignatures", ..] => "pades-finish",
            ["Api", "TimestampPlans", ..] => "timestamp",
            ["tsa"] => "tsa",
            ["Api", "MultipartUploads", ..] => "upload",
            ["Api", "Blobs", ..] => "blob",
            _ => "other",
        }
    }

    async fn answer(self: Arc<Self>, _: &'static str, parts: Parts, body: Bytes) -> Response<AnswerBody> {
        self.answered(&parts, &body).await.unwrap_or_else(|refusal| refusal.answer())
    }

    fn lose_data(&self) {
        self.service.lose_data();
    }
}

/// The version whose API it speaks.
const VERSION: &str = "1.13.2";
/// Bytes of a part of an upload.
const PART: usize = 1 << 20;
