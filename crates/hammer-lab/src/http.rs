//! A target that answers every request with a body of a given length.

use std::sync::Arc;

use bytes::Bytes;
use hammer_values::{ByteSize, RenamedKey, Status};
use http::{Method, Response, StatusCode, request::Parts};
use serde::{Deserialize, Serialize};

use crate::{
    clock::Clock,
    error::LabError,
    fault::FaultScript,
    handle::{LabConfig, LabHandle, LabTarget},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};

/// The plain target as a plan writes it; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// The size of each answer's body.
    pub body_size: ByteSize,
    /// Status of each answer.
    pub status: Status<200, 999>,
    /// What goes wrong on purpose. Endpoints are the methods in lower case: get, post, put, delete, other.
    pub faults: FaultScript,
}

impl Default for HttpLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            body_size: ByteSize::from_bytes(128),
            status: Status::nearest(200),
            faults: FaultScript::default(),
        }
    }
}

impl HttpLabPlan {
    /// What its keys were called before.
    pub const RENAMED: &[RenamedKey] = &[
        RenamedKey { old: "body_bytes", new: "body_size", unit: "B" },
        ServePlan::RENAMED_MAX_BODY,
        FaultScript::RENAMED_RETRY_AFTER,
    ];
}

/// A plain target that runs.
pub type HttpLabHandle = LabHandle<PlainTarget>;

/// What answers every request with the same body.
#[derive(Debug)]
pub struct PlainTarget {
    status: StatusCode,
    body: Bytes,
}

impl LabConfig for HttpLabPlan {
    type Target = PlainTarget;

    const THREAD: &'static str = "lab-http";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn path(&self) -> String {
        "/".to_owned()
    }

    fn target(self, _: &Arc<dyn Clock>, _: &str) -> Result<PlainTarget, LabError> {
        let status = StatusCode::from_u16(self.status.code())
            .map_err(|error| LabError::Plan { key: "status".into(), reason: error.to_string() })?;
        Ok(PlainTarget { status, body: vec![b'x'; self.body_size.in_memory()].into() })
    }
}

impl LabTarget for PlainTarget {}

impl Target for PlainTarget {
    const ENDPOINTS: &'static [&'static str] = &["get", "post", "put", "delete", "other"];

    fn endpoint(&self, method: &Method, _: &str) -> &'static str {
        match *method {
            Method::GET => "get",
            Method::POST => "post",
            Method::PUT => "put",
            Method::DELETE => "delete",
            _ => "other",
        }
    }

    async fn answer(self: Arc<Self>, _: &'static str, _: Parts, _: Bytes) -> Response<AnswerBody> {
        let mut answer = answer::ok("application/octet-stream", self.body.clone());
        *answer.status_mut() = self.status;
        answer
    }
}
