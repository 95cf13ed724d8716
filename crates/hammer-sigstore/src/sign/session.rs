//! A shard's clients of the services that a sign flow goes to, and the requests without what each flow puts into them.

use std::cell::RefCell;
use std::rc::Rc;

use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::sample::Reservoir;
use hammer_core::workload::{FatalError, ShardContext};
use hammer_exchange::stock::ShardTokens;
use hammer_exchange::{ServiceClient, ServiceConfig};
use hammer_messages::{fulcio as fulcio_messages, rekor as rekor_messages};
use hammer_net::grpc::unary_request;
use hammer_net::{Body, ConfigError, Request};
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::PathAndQuery;

use super::services::SignServices;
use crate::corpus::entry::{CorpusEntry, CorpusLog};
use crate::corpus::{Corpus, CorpusLines, CorpusSink};
use crate::plan::{FulcioInterface, RekorVersion, SignPlan, TimestampFormat};
use crate::promise::SigstorePromise;
use crate::record::PromiseRecord;
use crate::{fulcio, rekor, rekor_tiles, timestamp};

/// A shard's clients, and what it got logged, for verify flows to read back.
pub struct SignSession {
    pub(super) fulcio: Option<ServiceClient>,
    pub(super) rekor: Option<ServiceClient>,
    pub(super) timestamp: Option<ServiceClient>,
    /// The tokens that flows take as they start, where they do not have one by then.
    pub(super) tokens: Option<ShardTokens>,
    /// What an operation makes its own requests from, once.
    pub(super) requests: SignRequests,
    pub(super) corpus: Rc<RefCell<Reservoir<CorpusEntry>>>,
    pub(super) clock: Rc<dyn Clock>,
    /// What it adds to the corpus of a fill.
    pub(super) lines: Option<RefCell<CorpusLines>>,
    /// Where what was promised is written down, on its way to a verifier.
    promised: RefCell<Vec<u8>>,
}

/// The requests of a flow; those of steps that it does not have are never sent.
#[derive(Clone, Debug)]
pub(super) struct SignRequests {
    pub(super) fulcio: Option<Request>,
    pub(super) rekor: Option<Request>,
    pub(super) timestamp: Option<Request>,
}

impl SignRequests {
    /// Gives back the buffers that the bodies of the last flow borrowed, so that the next one is written into the same memory.
    pub(super) fn release(&mut self) {
        let Self { fulcio, rekor, timestamp } = self;
        for request in [fulcio, rekor, timestamp].into_iter().flatten() {
            request.body = Body::empty();
        }
    }
}

impl SignSession {
    pub(super) async fn open(
        plan: &SignPlan,
        services: &SignServices,
        tokens: Option<ShardTokens>,
        corpus: Option<&CorpusSink>,
        context: &ShardContext,
    ) -> Result<Self, FatalError> {
        let fulcio = opened(services.fulcio.as_ref(), context).await?;
        let rekor = opened(services.rekor.as_ref(), context).await?;
        let timestamp = opened(services.timestamp.as_ref(), context).await?;
        let requests = SignRequests {
            fulcio: fulcio.as_ref().map(|client| fulcio_request(plan.fulcio, client)).transpose()?,
            rekor: rekor.as_ref().map(|client| rekor_request(plan.rekor, client)).transpose()?,
            timestamp: timestamp.as_ref().map(timestamp_request).transpose()?,
        };
        let lines = corpus.map(|sink| RefCell::new(CorpusLines::new(sink.clone())));
        let log = if plan.rekor.is_on_tiles() { CorpusLog::RekorV2 } else { CorpusLog::RekorV1 };
        let (corpus, clock) = (Corpus::of(context, log), context.clock.clone());
        let promised = RefCell::default();
        Ok(Self { fulcio, rekor, timestamp, tokens, requests, corpus, clock, lines, promised })
    }

    /// Hands a promise to the verifier. It is written down in memory of the shard: thousands of flows in flight would each hold their own.
    pub(super) fn promise(
        &self,
        record: &OperationRecord,
        promise: SigstorePromise,
        told: &PromiseRecord<'_>,
    ) {
        let mut promised = self.promised.borrow_mut();
        told.write(&mut promised);
        record.promise(promise.into(), &promised);
    }
}

async fn opened(
    service: Option<&ServiceConfig>,
    context: &ShardContext,
) -> Result<Option<ServiceClient>, ConfigError> {
    match service {
        Some(service) => service.open(context).await.map(Some),
        None => Ok(None),
    }
}

fn fulcio_request(interface: FulcioInterface, client: &ServiceClient) -> Result<Request, ConfigError> {
    Ok(match interface {
        FulcioInterface::V1 | FulcioInterface::None => {
            let pem = HeaderValue::from_static("application/pem-certificate-chain");
            let mut request = json(client.path(fulcio::SIGNING_CERT_V1)?);
            request.headers.insert(ACCEPT, pem);
            request.kept_headers.push(fulcio::SCT_HEADER);
            request
        }
        FulcioInterface::V2 => json(client.path(fulcio::SIGNING_CERT_V2)?),
        FulcioInterface::Grpc => unary_request(client.path(fulcio_messages::CREATE_SIGNING_CERTIFICATE)?, ""),
    })
}

fn rekor_request(version: RekorVersion, client: &ServiceClient) -> Result<Request, ConfigError> {
    Ok(match version {
        RekorVersion::V1 | RekorVersion::None => {
            Request { kept_headers: vec![rekor::KNOWN_ENTRY], ..json(client.path(rekor::ENTRIES)?) }
        }
        RekorVersion::V2 => Request {
            kept_headers: vec![rekor_tiles::KNOWN_INDEX],
            ..json(client.path(rekor_tiles::ENTRIES)?)
        },
        RekorVersion::V2Grpc => {
            let mut request = unary_request(client.path(rekor_messages::CREATE_ENTRY)?, "");
            request.kept_headers.push(rekor_tiles::KNOWN_INDEX);
            request
        }
    })
}

fn timestamp_request(client: &ServiceClient) -> Result<Request, ConfigError> {
    Ok(TimestampFormat::Der.request(client.path(timestamp::TIMESTAMP)?))
}

fn json(path: PathAndQuery) -> Request {
    let mut request = Request::post(path, "");
    let json = HeaderValue::from_static("application/json");
    request.headers.insert(CONTENT_TYPE, json.clone());
    request.headers.insert(ACCEPT, json);
    request
}
