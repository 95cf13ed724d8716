//! One request, sent again and again.

use std::rc::Rc;

use hammer_core::workload::{
    Ended, Exchange, FatalError, OperationRecord, SeriesSpec, ShardContext, Workload,
};
use hammer_measure::{Detail, Nanos, Outcome};
use hammer_net::{Answer, Client, ClientConfig, Failure, Request};
use memchr::memmem::Finder;

use crate::error::HttpError;
use crate::plan::HttpPlan;

/// Sends one request, whatever the seq.
#[derive(Debug)]
pub struct HttpWorkload {
    request: Request,
    path: String,
    expect: Vec<u16>,
    contains: Option<Finder<'static>>,
    client: ClientConfig,
    warm_up: usize,
}

/// The room for an answer; what is sent never changes.
#[derive(Debug, Default)]
pub struct HttpOp {
    answer: Answer,
}

/// A shard's client, and the request with its whole path.
pub struct HttpSession {
    client: Client,
    request: Request,
    clock: Rc<dyn hammer_core::runtime::Clock>,
}

impl HttpWorkload {
    /// Builds the request; reads body and token. `client` names the endpoints; its connections are those of the whole run
    /// and are split over the shards.
    ///
    /// # Errors
    /// A plan that is no request, or a file that cannot be read.
    pub fn new(plan: &HttpPlan, client: ClientConfig) -> Result<Self, HttpError> {
        let mut client = client;
        if let Some(bearer) = &plan.bearer {
            client.bearer = Some(bearer.read()?);
        }
        let request = Request {
            method: plan.method()?,
            path: http::uri::PathAndQuery::from_static("/"),
            headers: plan.header_map()?,
            body: plan.body_bytes()?.into(),
        };
        let contains = plan.contains.as_ref().map(|text| Finder::new(text.as_bytes()).into_owned());
        let warm_up = client.connections;
        let (path, expect) = (plan.path.clone(), plan.statuses()?);
        Ok(Self { request, path, expect, contains, client, warm_up })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight;
    /// all of them unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { warm_up: connections, ..self }
    }

    fn judge(&self, answer: &Answer) -> Ended {
        let status = answer.status.as_u16();
        let ended = match Outcome::of_status(status) {
            _ if self.expect.contains(&status) => Ended::accepted(status),
            Outcome::Accepted if !self.expect.is_empty() => {
                Ended { outcome: Outcome::Refused, detail: Detail::Status(status) }
            }
            outcome => Ended { outcome, detail: Detail::Status(status) },
        };
        match &self.contains {
            Some(text) if ended.outcome == Outcome::Accepted && text.find(&answer.body).is_none() => {
                Ended::failed(Outcome::Malformed, "expected text missing")
            }
            _ => ended,
        }
    }
}

impl Workload for HttpWorkload {
    type Op = HttpOp;
    type Session = HttpSession;
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec { name: self.request.method.as_str().to_ascii_lowercase(), operation: true }]
    }

    fn prepare(&self, (): &mut (), _seq: u64, reuse: Option<HttpOp>) -> HttpOp {
        reuse.unwrap_or_default()
    }

    async fn open(&self, context: ShardContext) -> Result<HttpSession, FatalError> {
        let mut config = self.client.clone();
        config.connections = share_of(config.connections, &context).max(1);
        let warm_up = share_of(self.warm_up, &context).min(context.in_flight);
        let client = Client::new(config, context.clock.clone())?;
        let mut request = self.request.clone();
        request.path = client.path(&self.path)?;
        // Whoever does not answer now will not answer the first operation either, and that is counted.
        let _ = client.warm_up(warm_up).await;
        Ok(HttpSession { client, request, clock: context.clock })
    }

    async fn execute(&self, session: &HttpSession, op: &mut HttpOp, steps: &mut OperationRecord) -> Ended {
        let sent = session.client.send(&session.request, &mut op.answer).await;
        steps.exchange(&exchange(&op.answer, session.clock.as_ref()));
        match sent {
            Ok(()) => self.judge(&op.answer),
            Err(failure) => failed(&failure),
        }
    }

    fn sent_before_deadline(&self, _session: &HttpSession, op: &HttpOp) -> Option<Nanos> {
        op.answer.wire.sent
    }
}

fn exchange(answer: &Answer, clock: &dyn hammer_core::runtime::Clock) -> Exchange {
    Exchange {
        sent: answer.wire.sent,
        done: answer.wire.done.unwrap_or_else(|| clock.now()),
        bytes_out: answer.bytes_out,
        bytes_in: answer.bytes_in,
        retried: answer.retried_idle_close,
    }
}

fn failed(failure: &Failure) -> Ended {
    Ended { outcome: failure.kind.outcome(), detail: failure.kind.into() }
}

/// This shard's part of `whole`.
fn share_of(whole: usize, context: &ShardContext) -> usize {
    whole / context.shards + usize::from(context.shard < whole % context.shards)
}
