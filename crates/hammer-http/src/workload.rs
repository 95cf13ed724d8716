//! One request, sent again and again.

use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig};
use hammer_measure::{Detail, Outcome};
use hammer_net::{Answer, BodySink, ClientConfig, Request};
use hammer_values::Agreed;
use http::uri::PathAndQuery;
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
    service: ServiceConfig,
}

/// The room for an answer; what is sent never changes.
#[derive(Debug, Default)]
pub struct HttpOp {
    answer: Answer,
}

/// A shard's client, and the request with its whole path.
pub struct HttpSession {
    service: ServiceClient,
    request: Request,
}

impl HttpWorkload {
    /// Builds the request; reads body and token. `client` names the endpoints; its connections are those of the whole run
    /// and are split over the shards.
    ///
    /// # Errors
    /// A body or a token that cannot be read.
    pub fn new(plan: &Agreed<HttpPlan>, client: ClientConfig) -> Result<Self, HttpError> {
        let mut client = client;
        if let Some(bearer) = &plan.bearer {
            client.bearer = Some(bearer.read()?);
        }
        let request = Request {
            method: plan.method.method().clone(),
            headers: plan.header_map().into(),
            body: plan.body_bytes()?.into(),
            sink: if plan.contains.is_some() { BodySink::Keep } else { BodySink::Discard },
            ..Request::get(PathAndQuery::from_static("/"))
        };
        let contains = plan.contains.as_ref().map(|text| Finder::new(text.as_bytes()).into_owned());
        let service = ServiceConfig::new(SERVICE, client);
        let path = plan.path.as_str().to_owned();
        let expect = plan.expect.iter().map(|status| status.code()).collect();
        Ok(Self { request, path, expect, contains, service })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight;
    /// all of them unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { service: ServiceConfig { warm_up: connections, ..self.service }, ..self }
    }

    /// The service by whose name the report tells of its connections; `url` unless this is called.
    #[must_use]
    pub fn of_service(self, name: &str) -> Self {
        Self { service: ServiceConfig { name: name.to_owned(), ..self.service }, ..self }
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
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec { name: self.request.method.as_str().to_ascii_lowercase(), operation: true }]
    }

    fn prepare(&self, (): &mut (), _seq: u64, reuse: Option<HttpOp>) -> HttpOp {
        reuse.unwrap_or_default()
    }

    async fn open(&self, context: ShardContext) -> Result<HttpSession, FatalError> {
        let service = self.service.open(&context).await?;
        let mut request = self.request.clone();
        request.path = service.path(&self.path)?;
        Ok(HttpSession { service, request })
    }

    async fn execute(
        &self,
        session: &HttpSession,
        (): &(),
        op: &mut HttpOp,
        record: &OperationRecord,
    ) -> Ended {
        let mut exchange = record.exchange();
        match session.service.send(&mut exchange, &session.request, &mut op.answer).await {
            Ok(()) => self.judge(&op.answer),
            Err(ended) => ended,
        }
    }
}

/// A service that has no name in its plan.
const SERVICE: &str = "url";
