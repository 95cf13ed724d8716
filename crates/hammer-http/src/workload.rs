//! One request, sent again and again.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::bearer::BearerPlan;
use hammer_exchange::stock::{ShardTokens, TokenStock};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig, WallTime};
use hammer_net::grpc::{frame, tell_timeout, unary_request};
use hammer_net::{Answer, BodySink, ClientConfig, Request};
use hammer_values::Agreed;
use http::uri::PathAndQuery;

use crate::error::HttpError;
use crate::judgement::Judgement;
use crate::plan::{GrpcMethod, HttpPlan};

/// Sends one request, whatever the seq.
#[derive(Debug)]
pub struct HttpWorkload {
    request: Request,
    path: String,
    judgement: Judgement,
    is_call: bool,
    service: ServiceConfig,
    tokens: Option<(Arc<TokenStock>, WallTime)>,
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
    tokens: Option<ShardTokens>,
}

impl HttpWorkload {
    /// Builds the request; reads body and token. `client` names the endpoints; its connections are those of the whole run
    /// and are split over the shards.
    ///
    /// # Errors
    /// A body or a token that cannot be read; a call of gRPC by a client of HTTP/1.1 alone.
    pub fn new(plan: &Agreed<HttpPlan>, client: ClientConfig) -> Result<Self, HttpError> {
        let mut client = client;
        if let Some(token) = plan.bearer.as_ref().and_then(BearerPlan::token) {
            client.bearer = Some(token.read()?);
        }
        let judgement = Judgement::of(plan);
        let request = match &plan.grpc {
            None => request_of(plan)?,
            Some(_) => {
                client.version = client.version.of_calls().ok_or(HttpError::GrpcOverHttp1)?;
                call_of(plan)?
            }
        };
        let sink = if judgement.reads_body() { BodySink::Keep } else { BodySink::Discard };
        let request = Request { sink, ..request };
        let service = ServiceConfig::new(SERVICE, client);
        let path = plan.grpc.as_ref().map_or(plan.path.as_str(), GrpcMethod::as_str).to_owned();
        Ok(Self { request, path, judgement, is_call: plan.grpc.is_some(), service, tokens: None })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight;
    /// all of them unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { service: ServiceConfig { warm_up: connections, ..self.service }, ..self }
    }

    /// Each request has the next of these tokens, in place of the client's own.
    #[must_use]
    pub fn tokens(self, stock: Arc<TokenStock>, wall: WallTime) -> Self {
        Self { tokens: Some((stock, wall)), ..self }
    }

    /// The service by whose name the report tells of its connections; `url` unless this is called.
    #[must_use]
    pub fn of_service(self, name: &str) -> Self {
        Self { service: ServiceConfig { name: name.to_owned(), ..self.service }, ..self }
    }

    /// An operation has so long: the server is told where it is a call of gRPC.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        if self.is_call {
            tell_timeout(&mut self.request, timeout);
        }
        self
    }
}

fn request_of(plan: &HttpPlan) -> Result<Request, HttpError> {
    Ok(Request {
        method: plan.method.method().clone(),
        headers: plan.header_map().into(),
        body: plan.body_bytes()?.into(),
        ..Request::get(PathAndQuery::from_static("/"))
    })
}

/// The plan's headers stand for those of the call of the same name.
fn call_of(plan: &HttpPlan) -> Result<Request, HttpError> {
    let message = frame(&plan.body_bytes()?, &mut BytesMut::new()).map_err(HttpError::Message)?;
    let mut request = unary_request(PathAndQuery::from_static("/"), message);
    let headers = plan.header_map();
    for name in headers.keys() {
        request.headers.remove(name);
    }
    for (name, value) in &headers {
        request.headers.append(name, value.clone());
    }
    Ok(request)
}

impl Workload for HttpWorkload {
    // Boxed, since it is moved from hand to hand for each operation.
    type Op = Box<HttpOp>;
    type Session = HttpSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let name =
            if self.is_call { "call".into() } else { self.request.method.as_str().to_ascii_lowercase() };
        vec![SeriesSpec::new(name, true)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, reuse: Option<Box<HttpOp>>) -> Box<HttpOp> {
        reuse.unwrap_or_default()
    }

    async fn open(&self, context: ShardContext) -> Result<HttpSession, FatalError> {
        let service = self.service.open(&context).await?;
        let mut request = self.request.clone();
        request.path = service.path(&self.path)?;
        let tokens = self.tokens.as_ref();
        let tokens =
            tokens.map(|(stock, wall)| ShardTokens::new(stock.clone(), context.clock.clone(), *wall));
        Ok(HttpSession { service, request, tokens })
    }

    async fn execute(
        &self,
        session: &HttpSession,
        (): &(),
        op: &mut Box<HttpOp>,
        record: &OperationRecord,
    ) -> Ended {
        let token = match &session.tokens {
            Some(tokens) => match tokens.take().await {
                Ok(token) => Some(token.bearer),
                Err(ended) => return ended,
            },
            None => None,
        };
        let HttpSession { service, request, .. } = session;
        let mut exchange = record.exchange();
        let secrets = SentSecrets { bearer: token.as_ref(), token: None };
        match service.send_as(&mut exchange, request, secrets, &mut op.answer).await {
            Ok(()) => {
                let ended = self.judgement.judge(&op.answer);
                exchange.ends(ended);
                if let Some(said) = self.judgement.said(&op.answer) {
                    service.tell_said(&mut exchange, request, secrets, said.as_bytes());
                }
                ended
            }
            Err(ended) => ended,
        }
    }
}

/// A service that has no name in its plan.
const SERVICE: &str = "url";
