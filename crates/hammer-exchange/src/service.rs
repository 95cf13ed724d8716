//! A shard's client of one service.

use std::fmt::Display;
use std::rc::Rc;

use hammer_core::answers::AnswerSource;
use hammer_core::record::StepGuard;
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, ShardContext};
use hammer_measure::Nanos;
use hammer_net::reactor::Reactor;
use hammer_net::{Answer, Client, ClientConfig, ConfigError, Request};
use http::HeaderValue;
use http::uri::PathAndQuery;

use crate::credentials::secrets_of;
use crate::said::{excerpt, tell_said};
use crate::wire::exchange;

/// A service as a run knows it: how to talk to it, and how many connections are made before the first arrival.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// Its name, by which the report tells of its connections; clients of one name are counted together.
    pub name: String,
    /// The client. Its `connections` are those of the whole run, of which each shard gets its share.
    pub client: ClientConfig,
    /// Connections of the whole run that are established before the first arrival, where that many can be in flight.
    pub warm_up: usize,
}

/// A shard's client of one service.
pub struct ServiceClient {
    client: Client,
    clock: Rc<dyn Clock>,
}

/// The sockets of a client, which may wait to be read.
struct ClientSockets(Rc<Reactor>);

impl AnswerSource for ClientSockets {
    fn take(&self) {
        if self.0.is_lazy() {
            self.0.turn();
        }
    }

    fn let_wait(&self, may_wait: bool) {
        self.0.let_wait(may_wait);
    }
}

impl ServiceConfig {
    /// A service all of whose connections are established before the first arrival.
    pub fn new(name: impl Into<String>, client: ClientConfig) -> Self {
        Self { name: name.into(), warm_up: client.connections, client }
    }

    /// The client of one shard, with its share of the run's connections, some of them established.
    ///
    /// # Errors
    /// Those of [`Client::new`]. A service that does not answer is none: it will not answer the first operation either, and
    /// that is counted.
    pub async fn open(&self, context: &ShardContext) -> Result<ServiceClient, ConfigError> {
        let mut config = self.client.clone();
        config.connections = share_of_connections(config.connections, context.shard, context.shards);
        let own = |all| share_of_connections(all, context.shard, context.shards);
        config.per_address = config.per_address.map(own);
        let warm_up = share_of(self.warm_up, context.shard, context.shards).min(context.in_flight);
        // Asked for before anything is dialled, so that a service without any connection is told of too.
        let connections = context.connections(&self.name);
        let within = Nanos::from(config.read_within);
        let client = Client::new(config, context.clock.clone(), connections)?;
        if within > Nanos::ZERO {
            context.answers.add(Rc::new(ClientSockets(Rc::clone(client.reactor()))), within);
        }
        let _ = client.warm_up(warm_up).await;
        Ok(ServiceClient { client, clock: context.clock.clone() })
    }

    /// The same client with so many connections over the whole run, none of them established before it is needed: for what is
    /// read beside operations.
    #[must_use]
    pub fn beside(&self, connections: usize) -> Self {
        let client = ClientConfig { connections, per_address: None, ..self.client.clone() };
        Self { name: self.name.clone(), client, warm_up: 0 }
    }
}

impl ServiceClient {
    /// `path`, which starts with `/` and may have a query, behind the path of the service's URLs.
    ///
    /// # Errors
    /// When it is no path.
    pub fn path(&self, path: &str) -> Result<PathAndQuery, ConfigError> {
        self.client.path(path)
    }

    /// The network's client, for what is no exchange of an operation.
    pub fn into_client(self) -> Client {
        self.client
    }

    /// Sends `request` as `step` and reads the whole answer, as [`exchange`] does.
    ///
    /// # Errors
    /// How the operation ends that got no answer.
    pub async fn send(
        &self,
        step: &mut StepGuard<'_>,
        request: &Request,
        answer: &mut Answer,
    ) -> Result<(), Ended> {
        self.send_as(step, request, SentSecrets::default(), answer).await
    }

    /// As [`ServiceClient::send`], to the frontend that an earlier answer came from ([`Answer::endpoint`]), where that is given.
    ///
    /// # Errors
    /// How the operation ends that got no answer.
    pub async fn send_to(
        &self,
        step: &mut StepGuard<'_>,
        frontend: Option<usize>,
        request: &Request,
        answer: &mut Answer,
    ) -> Result<(), Ended> {
        let Some(frontend) = frontend else { return self.send(step, request, answer).await };
        let send = async |answer: &mut Answer| self.client.send_to(frontend, request, answer).await;
        let secrets = || self.secrets_of(request, SentSecrets::default());
        exchange(step, answer, self.clock.as_ref(), (secrets, |_| false), send).await
    }

    /// The path to which a `Location` leads that was answered to a request of `base`; none where that is no URL, or of another origin than
    /// the service's own.
    pub fn path_of_location(&self, location: &str, base: &PathAndQuery) -> Option<PathAndQuery> {
        self.client.path_of_location(location, base)
    }

    /// As [`ServiceClient::send`], with those secrets beside the request's own headers.
    ///
    /// # Errors
    /// How the operation ends that got no answer.
    pub async fn send_as(
        &self,
        step: &mut StepGuard<'_>,
        request: &Request,
        secrets: SentSecrets<'_>,
        answer: &mut Answer,
    ) -> Result<(), Ended> {
        self.send_judged(step, (request, secrets), |_| false, answer).await
    }

    /// As [`ServiceClient::send_as`], where the caller `judges` an answer of such a status by more than that: what is said with it is told by
    /// [`ServiceClient::tell_said`], once it is known to be a failure, and of which cause.
    ///
    /// # Errors
    /// How the operation ends that got no answer.
    pub async fn send_judged(
        &self,
        step: &mut StepGuard<'_>,
        (request, secrets): (&Request, SentSecrets<'_>),
        judges: impl FnOnce(u16) -> bool,
        answer: &mut Answer,
    ) -> Result<(), Ended> {
        let send = async |answer: &mut Answer| self.client.send_as(request, secrets.bearer, answer).await;
        let all_secrets = || self.all_secrets_of(request, secrets);
        exchange(step, answer, self.clock.as_ref(), (all_secrets, judges), send).await
    }

    /// Tells `step` what the server said with its failure, in the body or in the message of a call, without what was secret of the
    /// request that was sent, where nothing is known of the cause yet.
    pub fn tell_said<S: AsRef<[u8]>>(
        &self,
        step: &mut StepGuard<'_>,
        ended: Ended,
        (request, secrets): (&Request, SentSecrets<'_>),
        said: impl FnOnce() -> S,
    ) {
        if !step.has_been_said(ended) {
            tell_said(step, said().as_ref(), &self.all_secrets_of(request, secrets));
        }
    }

    /// Ends `step` as `ended` by an answer that has not the form which the protocol has for it, and tells how that starts, where nothing is
    /// known of the cause yet.
    pub fn ends_by(
        &self,
        step: &mut StepGuard<'_>,
        ended: Ended,
        sent: (&Request, SentSecrets<'_>),
        body: &[u8],
    ) -> Ended {
        self.tell_said(step, ended, sent, || body);
        step.ends(ended);
        ended
    }

    /// Tells `step` what an answer said, of a request that had no secret but the client's own, where nothing is known of the cause yet.
    pub fn tell(&self, step: &mut StepGuard<'_>, ended: Ended, said: &dyn Display) {
        let request = || Request::get(PathAndQuery::from_static("/"));
        if !step.has_been_said(ended) {
            self.tell_said(step, ended, (&request(), SentSecrets::default()), || said.to_string());
        }
    }

    /// The start of what the server answered to that `request`, on one line and without what was secret of it, for whoever keeps it as what
    /// the server said.
    pub fn excerpt(&self, request: &Request, said: &[u8]) -> String {
        excerpt(said, &self.secrets_of(request, SentSecrets::default()))
    }

    /// Those that stand anywhere in it.
    fn all_secrets_of(&self, request: &Request, secrets: SentSecrets<'_>) -> Vec<String> {
        let mut all = self.secrets_of(request, secrets);
        all.extend(secrets.tokens.iter().map(|token| (*token).to_owned()));
        all
    }

    fn secrets_of(&self, request: &Request, secrets: SentSecrets<'_>) -> Vec<String> {
        secrets_of(request, secrets.bearer.or(self.client.bearer()))
    }
}

/// What a request is sent with that its answer may repeat, and nobody else may read.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentSecrets<'a> {
    /// The `Authorization` in place of the client's own, where there is one.
    pub bearer: Option<&'a HeaderValue>,
    /// Tokens that stand anywhere else in it, such as its body.
    pub tokens: &'a [&'a str],
}

/// A shard's part of the connections of a run. A run has no more shards than connections, so that none is left without one and
/// the parts add up to what the plan allows.
pub fn share_of_connections(connections: usize, shard: usize, shards: usize) -> usize {
    share_of(connections, shard, shards).max(1)
}

fn share_of(whole: usize, shard: usize, shards: usize) -> usize {
    whole / shards + usize::from(shard < whole % shards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_shards_add_up_to_the_runs_connections() {
        for (connections, shards) in [(50, 1), (50, 3), (7, 7), (1, 1), (8, 3)] {
            let shares = (0..shards).map(|shard| share_of_connections(connections, shard, shards));
            assert_eq!(shares.sum::<usize>(), connections);
        }
    }
}
