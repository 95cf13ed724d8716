//! A target that answers every request with a body of a given length.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode, request::Parts};
use http_body_util::Full;
use serde::{Deserialize, Serialize};

use crate::{
    clock::{Clock, SystemClock},
    error::LabError,
    fault::{FaultScript, FaultSession},
    serve::{Running, ServePlan, Server, Target, answer},
    stats::{Counters, LabStats},
};

/// The plain target as a plan writes it; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// Bytes of each answer's body.
    pub body_bytes: usize,
    /// Status of each answer.
    pub status: u16,
    /// What goes wrong on purpose. Endpoints are the methods in lower case: get, post, put, delete, other.
    pub faults: FaultScript,
}

impl Default for HttpLabPlan {
    fn default() -> Self {
        Self { serve: ServePlan::default(), body_bytes: 128, status: 200, faults: FaultScript::default() }
    }
}

/// Starts plain targets.
#[derive(Debug)]
pub struct HttpLab;

/// A plain target that runs. Dropping it stops the target without waiting for its end.
#[derive(Debug)]
pub struct HttpLabHandle {
    /// `http(s)://address/`.
    pub url: String,
    clock: Arc<dyn Clock>,
    faults: Arc<FaultSession>,
    counters: Arc<Counters>,
    running: Running,
}

struct Plain {
    status: StatusCode,
    body: Bytes,
}

impl HttpLab {
    /// Starts a target on its own threads, with the machine's time.
    ///
    /// # Errors
    /// A plan without meaning, or an address that is taken.
    pub fn spawn_thread(plan: &HttpLabPlan) -> Result<HttpLabHandle, LabError> {
        Self::spawn_thread_with_clock(plan, Arc::new(SystemClock::new()))
    }

    /// As [`HttpLab::spawn_thread`], with the time given.
    ///
    /// # Errors
    /// A plan without meaning, or an address that is taken.
    pub fn spawn_thread_with_clock(
        plan: &HttpLabPlan,
        clock: Arc<dyn Clock>,
    ) -> Result<HttpLabHandle, LabError> {
        let status = StatusCode::from_u16(plan.status)
            .map_err(|error| LabError::Plan { key: "status", reason: error.to_string() })?;
        plan.faults.check().map_err(|reason| LabError::Plan { key: "faults", reason })?;
        let faults = Arc::new(FaultSession::new(plan.faults.clone(), clock.elapsed()));
        let counters = Arc::new(Counters::default());
        let server = Server {
            target: Arc::new(Plain { status, body: vec![b'x'; plan.body_bytes].into() }),
            clock: Arc::clone(&clock),
            faults: Arc::clone(&faults),
            counters: Arc::clone(&counters),
            plan: plan.serve.clone(),
        };
        let scheme = if plan.serve.tls.is_some() { "https" } else { "http" };
        let running = Running::spawn("lab-http", server, |_| async {})?;
        Ok(HttpLabHandle {
            url: format!("{scheme}://{}/", running.address),
            clock,
            faults,
            counters,
            running,
        })
    }

    /// As [`HttpLab::spawn_thread`], from within a tokio runtime.
    ///
    /// # Errors
    /// A plan without meaning, or an address that is taken.
    pub async fn start(plan: HttpLabPlan) -> Result<HttpLabHandle, LabError> {
        tokio::task::spawn_blocking(move || Self::spawn_thread(&plan)).await.unwrap_or(Err(LabError::Died))
    }
}

impl HttpLabHandle {
    /// Requests and connections so far.
    #[must_use]
    pub fn stats(&self) -> LabStats {
        self.counters.stats()
    }

    /// Counts the stalls of the fault script from now.
    pub fn restart_faults(&self) {
        self.faults.restart(self.clock.elapsed());
    }

    /// Stops accepting, lets what is under way finish, and ends the threads; blocks.
    pub fn stop(self) -> LabStats {
        let Self { counters, running, .. } = self;
        running.stop();
        counters.stats()
    }

    /// As [`HttpLabHandle::stop`], from within a tokio runtime.
    pub async fn shutdown(self) {
        let _ = tokio::task::spawn_blocking(|| self.stop()).await;
    }
}

impl Target for Plain {
    fn endpoint(&self, method: &Method, _: &str) -> &'static str {
        match *method {
            Method::GET => "get",
            Method::POST => "post",
            Method::PUT => "put",
            Method::DELETE => "delete",
            _ => "other",
        }
    }

    async fn answer(self: Arc<Self>, _: &'static str, _: Parts, _: Bytes) -> Response<Full<Bytes>> {
        let mut answer = answer::ok("application/octet-stream", self.body.clone());
        *answer.status_mut() = self.status;
        answer
    }
}
