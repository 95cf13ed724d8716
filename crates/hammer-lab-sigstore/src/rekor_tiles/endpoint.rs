//! Which request is which endpoint, and who answers it: REST and gRPC are two skins over one function.

use std::sync::Arc;

use bytes::Bytes;
use hammer_lab::serve::{
    Target,
    answer::{self, AnswerBody},
    grpc::{self, GrpcCode},
};
use hammer_messages::{
    health::{CHECK, HealthCheckResponse, ServingStatus},
    rekor::{CREATE_ENTRY as CREATE_ENTRY_CALL, CreateEntryRequest},
};
use hammer_tlog::logs::{merkle::Hash, tile::TileId};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header::CONTENT_TYPE, request::Parts};
use prost::Message as _;
use serde_json::json;
use tokio::sync::watch;

use super::{log::TilesLog, plan::RekorTilesLieKind, refusal::TilesRefusal, request};
use crate::rekor::lie::ToldRekorLie;

/// A log behind its server.
#[derive(Debug)]
pub struct RekorTilesTarget {
    pub(super) log: TilesLog,
}

impl RekorTilesTarget {
    /// DER `SubjectPublicKeyInfo` of the log's key.
    #[must_use]
    pub fn log_key_spki(&self) -> &[u8] {
        self.log.checkpoints.signer.spki()
    }

    /// The `keyId` of each entry: the hash whose first four bytes are the key id of the checkpoint's signature.
    #[must_use]
    pub fn log_id(&self) -> Hash {
        self.log.checkpoints.key_hash()
    }

    /// Origin line of the checkpoint, and the name in its signature line.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.log.checkpoints.origin
    }

    /// The lies that the log told, in order; up to 10,000 are listed, and the count of those beyond is given.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<ToldRekorLie<RekorTilesLieKind>>, u64) {
        self.log.lies.told()
    }

    async fn call(&self, body: &Bytes, path: &str) -> Response<AnswerBody> {
        let message = match grpc::message(body) {
            Ok(message) => message,
            Err(refusal) => return refusal.into(),
        };
        if path == CHECK {
            let serving = HealthCheckResponse { status: ServingStatus::Serving as i32 };
            return grpc::ok(&serving.encode_to_vec());
        }
        let Ok(request) = CreateEntryRequest::decode(message) else {
            return grpc::error(GrpcCode::Internal, "grpc: error unmarshalling request");
        };
        match self.log.create(request).await {
            Ok(entry) => grpc::ok(&entry.encode_to_vec()),
            Err(refusal) => {
                let log_index = refusal.log_index;
                with_index(refusal.grpc.into(), log_index)
            }
        }
    }

    async fn create(&self, body: &[u8]) -> Response<AnswerBody> {
        let created = match request::read(body) {
            Ok(request) => self.log.create(request).await,
            Err(refusal) => Err(refusal),
        };
        match created {
            Ok(entry) => {
                // Texts, numbers and lists of them are always written.
                let mut answer = answer::json(serde_json::to_vec(&entry).unwrap_or_default());
                *answer.status_mut() = StatusCode::CREATED;
                answer
            }
            Err(refusal) => refused(&refusal),
        }
    }

    fn tile(&self, path: &str) -> Response<AnswerBody> {
        let tile = below_root(path).parse::<TileId>().ok();
        match tile.and_then(|tile| self.log.tile(&tile)) {
            Some(bytes) if self.log.is_gzip() => answer::gzip("application/octet-stream", &bytes),
            Some(bytes) => answer::ok("application/octet-stream", bytes),
            None => answer::error(StatusCode::NOT_FOUND, &format!("{path} is not here")),
        }
    }
}

/// The path of what is served as a file, below the server's root or `/api/v2/`.
fn below_root(path: &str) -> &str {
    path.strip_prefix("/api/v2/").or_else(|| path.strip_prefix('/')).unwrap_or(path)
}

fn refused(refusal: &TilesRefusal) -> Response<AnswerBody> {
    let body = match refusal.frozen {
        true => "This log has been frozen, please switch to the latest log.\n".to_owned(),
        false => {
            let (code, message) = (refusal.grpc.code as u8, json!(refusal.grpc.message));
            format!("{{\"code\":{code},\"message\":{message},\"details\":[]}}")
        }
    };
    let mut answer = answer::json(body);
    *answer.status_mut() = refusal.status();
    if refusal.frozen {
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    }
    with_index(answer, refusal.log_index)
}

fn with_index(mut answer: Response<AnswerBody>, log_index: Option<u64>) -> Response<AnswerBody> {
    if let Some(log_index) = log_index {
        answer.headers_mut().insert(LOG_INDEX, HeaderValue::from(log_index));
    }
    answer
}

impl Target for RekorTilesTarget {
    const ENDPOINTS: &'static [&'static str] = &[CREATE_ENTRY, CHECKPOINT, TILE, ENTRIES, HEALTH, OTHER];

    fn lose_data(&self) {
        self.log.lose_data();
    }

    fn endpoint(&self, method: &Method, path: &str) -> &'static str {
        match (method.as_str(), path) {
            ("POST", "/api/v2/log/entries" | CREATE_ENTRY_CALL) => CREATE_ENTRY,
            ("GET", "/healthz") | ("POST", CHECK) => HEALTH,
            ("GET", path) => match below_root(path) {
                "checkpoint" => CHECKPOINT,
                path if path.starts_with("tile/entries/") => ENTRIES,
                path if path.starts_with("tile/") => TILE,
                _ => OTHER,
            },
            _ => OTHER,
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let path = parts.uri.path();
        match endpoint {
            CREATE_ENTRY | HEALTH if grpc::is_call(&parts) => self.call(&body, path).await,
            CREATE_ENTRY => self.create(&body).await,
            CHECKPOINT => answer::no_store(self.log.checkpoint()),
            TILE | ENTRIES => self.tile(path),
            HEALTH => answer::json("{\"status\":\"SERVING\"}"),
            _ if grpc::is_call(&parts) => grpc::error(GrpcCode::Unimplemented, "unknown method"),
            _ => refused(&TilesRefusal::of(GrpcCode::NotFound, "Not Found")),
        }
    }

    async fn work(self: Arc<Self>, stopped: watch::Receiver<bool>) {
        tokio::join!(self.log.sequence(stopped.clone()), self.log.publish(stopped));
        self.log.publish_all();
    }
}

const CREATE_ENTRY: &str = "create-entry";
const CHECKPOINT: &str = "checkpoint";
const TILE: &str = "tile";
const ENTRIES: &str = "entries";
const HEALTH: &str = "health";
const OTHER: &str = "other";
const LOG_INDEX: HeaderName = HeaderName::from_static("x-log-index");
