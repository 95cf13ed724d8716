//! Reads of discovery documents.

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{Answer, ClientConfig, Request};

use crate::discovery::{DiscoveryDocument, request};
use crate::error::AttestError;
use crate::plan::{DiscoveryKind, WellKnownPlan};
use crate::target::AttestRun;

/// Reads discovery documents. Each has to be one, and to say that its service is ready.
pub struct WellKnownWorkload {
    kinds: Vec<DiscoveryKind>,
    mix: WeightedMix,
    services: Vec<ServiceConfig>,
}

/// Which document, and the room for it.
#[derive(Debug, Default)]
pub struct WellKnownOp {
    series: usize,
    answer: Answer,
}

/// A shard's clients, with the requests for their documents.
pub struct WellKnownSession(Vec<(ServiceClient, Request)>);

impl WellKnownWorkload {
    /// Reads of `plan`. `client` makes the client of a service; its connections are those of the whole run and are split over the shards.
    ///
    /// # Errors
    /// When nothing is to be read, or `client` fails.
    pub fn new<E: From<AttestError>>(
        plan: &WellKnownPlan,
        run: &AttestRun,
        mut client: impl FnMut(DiscoveryKind) -> Result<ClientConfig, E>,
    ) -> Result<Self, E> {
        let (kinds, weights): (Vec<_>, Vec<_>) =
            plan.mix.drawn().map(|(kind, weight)| (*kind, weight)).unzip();
        if kinds.is_empty() {
            return Err(AttestError::NothingToRead.into());
        }
        let mut service = |kind: &DiscoveryKind| -> Result<ServiceConfig, E> {
            Ok(ServiceConfig::new(kind.name(), client(*kind)?))
        };
        let services = kinds.iter().map(&mut service).collect::<Result<_, E>>()?;
        let draws = Draws::new(run.seed, KINDS ^ run.workload << 32);
        Ok(Self { mix: WeightedMix::new(&weights, draws), kinds, services })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight; all of them
    /// unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        self.services.iter_mut().for_each(|service| service.warm_up = connections);
        self
    }
}

impl Workload for WellKnownWorkload {
    type Op = Box<WellKnownOp>;
    type Session = WellKnownSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        self.kinds.iter().map(|kind| SeriesSpec::new(kind.name(), true)).collect()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.mix.of(seq).0
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<WellKnownOp>>) -> Box<WellKnownOp> {
        let mut op = reuse.unwrap_or_default();
        op.series = self.mix.of(seq).0;
        op
    }

    async fn open(&self, context: ShardContext) -> Result<WellKnownSession, FatalError> {
        let mut clients = Vec::with_capacity(self.services.len());
        for (kind, service) in self.kinds.iter().zip(&self.services) {
            let client = service.open(&context).await?;
            let request = request(client.path(kind.path())?);
            clients.push((client, request));
        }
        Ok(WellKnownSession(clients))
    }

    async fn execute(
        &self,
        session: &WellKnownSession,
        (): &(),
        op: &mut Box<WellKnownOp>,
        record: &OperationRecord,
    ) -> Ended {
        let WellKnownOp { series, answer } = &mut **op;
        let (client, request) = &session.0[*series];
        let mut exchange = record.exchange();
        if let Err(ended) = client.send(&mut exchange, request, answer).await {
            return ended;
        }
        if let Err(ended) = expect_ok(&mut exchange, answer) {
            return ended;
        }
        let ended = match DiscoveryDocument::parse(&answer.body) {
            Ok(document) if document.is_ready() => Ended::accepted(200),
            Ok(_) => NOT_READY,
            Err(_) => NO_DOCUMENT,
        };
        if ended.outcome == Outcome::Accepted {
            exchange.ends(ended);
            return ended;
        }
        client.ends_by(&mut exchange, ended, (request, SentSecrets::default()), &answer.body)
    }
}

const KINDS: u64 = 0x4174_776b;
const NOT_READY: Ended = Ended::failed(Outcome::Refused, "service not ready, with HTTP 200");
const NO_DOCUMENT: Ended = Ended::failed(Outcome::Malformed, "no discovery document");
