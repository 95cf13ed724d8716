//! An embedded server of static documents, such as those of an OpenID provider: its discovery (OpenID Connect Discovery
//! section 4) and its keys are made elsewhere.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use bytes::Bytes;
use hammer_lab::{
    FaultScript, LabError,
    clock::Clock,
    handle::{LabConfig, LabHandle, LabTarget},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};
use http::{HeaderValue, Method, Response, StatusCode, header::CONTENT_TYPE, request::Parts};
use serde::{Deserialize, Serialize};

/// The embedded provider in a plan file; every key may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IssuerLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: discovery, document, other.
    pub faults: FaultScript,
}

/// A document that is served as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticDocument {
    /// Its media type, such as `application/json`.
    pub content_type: HeaderValue,
    /// Its bytes.
    pub body: Bytes,
}

impl StaticDocument {
    /// A document in JSON.
    pub fn json(body: impl Into<Bytes>) -> Self {
        Self { content_type: HeaderValue::from_static("application/json"), body: body.into() }
    }
}

/// Documents by their path, which starts with a slash.
pub type StaticDocuments = BTreeMap<String, StaticDocument>;

/// Everything that the embedded provider needs to start. Its documents name the URL that it is reached by, which is known only
/// once it has its port.
pub struct IssuerConfig {
    plan: IssuerLabPlan,
    documents: Box<dyn FnOnce(&str) -> StaticDocuments + Send>,
}

impl IssuerConfig {
    /// A provider of a plan, and what makes its documents from its URL, which has no slash at its end.
    pub fn new(
        plan: IssuerLabPlan,
        documents: impl FnOnce(&str) -> StaticDocuments + Send + 'static,
    ) -> Self {
        Self { plan, documents: Box::new(documents) }
    }
}

impl fmt::Debug for IssuerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuerConfig").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// A provider that runs.
pub type IssuerLabHandle = LabHandle<IssuerTarget>;

/// What serves documents.
#[derive(Debug)]
pub struct IssuerTarget {
    documents: RwLock<StaticDocuments>,
}

impl IssuerTarget {
    /// Serves a document in the place of what was there, as a provider does that changes its keys.
    pub fn replace(&self, path: impl Into<String>, document: StaticDocument) {
        self.documents.write().unwrap_or_else(PoisonError::into_inner).insert(path.into(), document);
    }

    fn document(&self, path: &str) -> Option<StaticDocument> {
        self.documents.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

impl LabConfig for IssuerConfig {
    type Target = IssuerTarget;

    const THREAD: &'static str = "lab-issuer";

    fn serve(&self) -> &ServePlan {
        &self.plan.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.plan.faults
    }

    fn target(self, _: &Arc<dyn Clock>, url: &str) -> Result<IssuerTarget, LabError> {
        Ok(IssuerTarget { documents: RwLock::new((self.documents)(url)) })
    }
}

impl LabTarget for IssuerTarget {}

impl Target for IssuerTarget {
    const ENDPOINTS: &'static [&'static str] = &["discovery", "document", "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        match self.document(path) {
            Some(_) if path.ends_with("/.well-known/openid-configuration") => "discovery",
            Some(_) => "document",
            None => "other",
        }
    }

    async fn answer(self: Arc<Self>, _: &'static str, parts: Parts, _: Bytes) -> Response<AnswerBody> {
        if ![Method::GET, Method::HEAD].contains(&parts.method) {
            let reason = format!("method not allowed: {}", parts.method);
            return answer::error(StatusCode::METHOD_NOT_ALLOWED, &reason);
        }
        let Some(document) = self.document(parts.uri.path()) else {
            return answer::error(StatusCode::NOT_FOUND, &format!("{} is not here", parts.uri.path()));
        };
        let mut answer = answer::json(document.body);
        answer.headers_mut().insert(CONTENT_TYPE, document.content_type);
        answer
    }
}
