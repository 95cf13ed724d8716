//! What is loaded, and how it is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_exchange::bearer::BearerPlan;
use hammer_exchange::token::TokenPlan;
use hammer_net::{Balancing, ClientConfig, DialPlace, HttpVersion, Secret, TlsConfig};
use hammer_values::{Agreed, ByteSize, Count, TimeSpan, ValueError, Word};
use http::{HeaderValue, Uri};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::contact::{Contact, nameless};
use super::dial_address::DialAddress;
use super::error::{PlanError, PlanFault};
use super::link::LinkPlan;
use super::path::PlanPath;
use super::ready::ReadyPlan;
use super::resend::ResendPlan;
use super::section::Sections;

/// What is loaded. Exactly one key says what: `services`, `lab`, or one that is short for a service.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TargetPlan {
    /// What stands for a service without a name: one section, of the protocol that knows it.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub(crate) unnamed: Sections,
    /// Services by their names, each reached in its own way.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) services: BTreeMap<Word, ServicePlan>,
    /// An embedded target, started with the run on a port that the system chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lab: Option<LabPlan>,
    /// Who allowed load on peers that are neither loopback nor private; the report carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) authorized: Option<String>,
    /// Who can be written to about the load: a mail address, which stands in the `User-Agent` of every request. Skylight lets
    /// clients without one read 75 times a second, all of them together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contact: Option<Contact>,
    /// When it can be loaded: the first arrival waits until it is, and it is asked again beside the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ready: Option<ReadyPlan>,
    /// The link between hammer and the target, whose share of the measured time the report has; where an embedded target has one before
    /// itself it is that one without this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<Agreed<LinkPlan>>,
    /// `false`: logs are not held against what the plan says of them before the first arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preflight: Option<bool>,
    /// Connections to it.
    pub(crate) connection: ConnectionPlan,
    /// Trust and identity over `https`.
    pub(crate) tls: TlsPlan,
}

/// A service of the target. Exactly one key says what it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServicePlan {
    /// What it is: one section, of the protocol that knows it.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub(crate) kind: Sections,
    /// The bearer token of every request to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<BearerPlan>,
    /// When it can be loaded; `target.ready` without it, of which it takes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ready: Option<ReadyPlan>,
    /// Connections to it; `target.connection` without it, of which it takes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionPlan>,
    /// Trust and identity of its own; `target.tls` without it, of which it takes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls: Option<TlsPlan>,
}

/// An embedded target. Exactly one key says what it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LabPlan {
    /// What it is: one section, of the protocol that knows it.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub(crate) kind: Sections,
    /// One for all runs of rounds and a sweep, with all that they leave in it; without it each run starts its own.
    pub(crate) keep: bool,
}

/// Connections to the target.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConnectionPlan {
    /// Which HTTP version is spoken.
    pub(crate) http: VersionPlan,
    /// Most connections of a workload to an endpoint, over all shards. Without it: as many as operations may be in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connections: Option<Count>,
    /// HTTP/2: so many connections to each address, over all shards, neither fewer nor more; streams are spread over them. Without it as few
    /// as have room for the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_address: Option<Count>,
    /// HTTP/2: most streams at once on a connection.
    pub(crate) streams: Count,
    /// An idle connection older than this is closed instead of used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_idle: Option<TimeSpan>,
    /// A connection older than this is closed instead of used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_age: Option<TimeSpan>,
    /// Where the endpoints are dialled, whatever host and port their URLs have; `Host` and TLS keep those of the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connect_to: Option<DialAddress>,
    /// The Unix socket at which the endpoints are dialled, in place of an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unix_socket: Option<PathBuf>,
    /// How long a dial may take.
    pub(crate) dial_timeout: TimeSpan,
    /// `false`: a connection for every operation.
    pub(crate) keepalive: bool,
    /// What is sent again where a connection is lost before any of its answer came; the report counts it.
    pub(crate) resend: ResendPlan,
    /// How an operation's endpoint is chosen.
    pub(crate) balancing: BalancingPlan,
    /// How often names are looked up again; once without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolve_every: Option<TimeSpan>,
    /// The longest that an answer may lie unread where nothing waits for it; 0: each wakes its shard. No figure but `read_lag` differs
    /// by it.
    pub(crate) read_within: TimeSpan,
    /// The largest body of an answer.
    pub(crate) response_limit: ByteSize,
    /// How many redirects in a row are followed; each is held against the same rules as the target.
    pub(crate) redirects: u32,
}

/// Which HTTP version is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenVersion")]
#[schemars(!try_from, transform = also_as_numbers)]
pub(crate) enum VersionPlan {
    /// What TLS negotiates; 1.1 without TLS.
    #[default]
    #[serde(rename = "negotiated")]
    Negotiated,
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    Http1,
    /// HTTP/2 over TLS, or nothing.
    #[serde(rename = "2")]
    Http2,
    /// HTTP/2 without asking.
    #[serde(rename = "2-prior-knowledge")]
    Http2PriorKnowledge,
}

/// A version as YAML has it: `1.1` and `2` are numbers there.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenVersion {
    Text(String),
    Number(f64),
}

impl TryFrom<WrittenVersion> for VersionPlan {
    type Error = ValueError;

    fn try_from(written: WrittenVersion) -> Result<Self, ValueError> {
        let text = match written {
            WrittenVersion::Text(text) => text,
            WrittenVersion::Number(number) => number.to_string(),
        };
        match text.as_str() {
            "negotiated" => Ok(Self::Negotiated),
            "1.1" => Ok(Self::Http1),
            "2" => Ok(Self::Http2),
            "2-prior-knowledge" => Ok(Self::Http2PriorKnowledge),
            _ => Err(ValueError::Form { text, expected: "version (negotiated, 1.1, 2, 2-prior-knowledge)" }),
        }
    }
}

/// The versions that need no quotes.
fn also_as_numbers(schema: &mut Schema) {
    if let Some(Value::Array(versions)) = schema.get_mut("oneOf") {
        versions.push(json!({ "enum": [1.1, 2] }));
    }
}

/// How an operation's endpoint is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BalancingPlan {
    /// In turn.
    #[default]
    RoundRobin,
    /// By a seeded draw.
    Random,
    /// The one with the fewest operations in flight.
    LeastInFlight,
    /// The first that can be dialled.
    PickFirst,
}

/// Trust and identity over `https`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TlsPlan {
    /// PEM files of roots that are trusted as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) roots: Vec<PathBuf>,
    /// PEM file of the client's certificate and those above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM file of the client's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<PathBuf>,
    /// Does not verify the server; the report says so.
    pub(crate) insecure: bool,
    /// The name that the server's certificate must have, when it is not the URL's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_name: Option<String>,
}

impl Default for ConnectionPlan {
    fn default() -> Self {
        Self {
            http: VersionPlan::default(),
            connections: None,
            per_address: None,
            streams: Count::at_least_one(100),
            max_idle: None,
            max_age: None,
            connect_to: None,
            unix_socket: None,
            dial_timeout: TimeSpan::from_secs(10),
            keepalive: true,
            resend: ResendPlan::default(),
            balancing: BalancingPlan::default(),
            resolve_every: None,
            read_within: TimeSpan::from_millis(10),
            response_limit: ByteSize::from_mib(16),
            redirects: 0,
        }
    }
}

impl TargetPlan {
    /// The client of `endpoints`, which `service` is reached at where it has a name, for a workload of at most `in_flight`
    /// operations in flight.
    ///
    /// # Errors
    /// When the service's token cannot be read, at its path.
    pub(crate) fn client(
        &self,
        service: Option<&str>,
        endpoints: Vec<Uri>,
        in_flight: usize,
        seed: u64,
    ) -> Result<ClientConfig, PlanError> {
        let bearer = service.map_or(Ok(None), |name| self.token(name))?;
        let connection = self.connection_of(service);
        let service = service.and_then(|name| self.services.get(name));
        let tls = service.and_then(|service| service.tls.as_ref()).unwrap_or(&self.tls);
        let duration = |span: Option<TimeSpan>| span.map(TimeSpan::duration);
        Ok(ClientConfig {
            endpoints,
            balancing: connection.balancing.into(),
            seed,
            version: connection.http.into(),
            tls: tls.config(),
            connections: connection.connections.map_or(in_flight, Count::get),
            per_address: connection.per_address.map(Count::get),
            streams: connection.streams.get(),
            max_idle: duration(connection.max_idle),
            max_age: duration(connection.max_age),
            dial_at: connection.dial_place(),
            dial_timeout: connection.dial_timeout.duration(),
            read_within: connection.read_within.duration(),
            resend: connection.resend.into(),
            response_limit: connection.response_limit.in_memory(),
            resolve_every: duration(connection.resolve_every),
            authorized: self.authorized.clone(),
            bearer,
            keepalive: connection.keepalive,
            redirects: connection.redirects,
            user_agent: Some(self.user_agent()),
        })
    }

    /// How the service of that name is reached.
    pub(crate) fn connection_of(&self, service: Option<&str>) -> &ConnectionPlan {
        let service = service.and_then(|name| self.services.get(name));
        service.and_then(|service| service.connection.as_ref()).unwrap_or(&self.connection)
    }

    /// When the service of that name can be loaded, where the plan says so.
    pub(crate) fn ready_of(&self, service: Option<&str>) -> Option<&ReadyPlan> {
        let service = service.and_then(|name| self.services.get(name));
        service.and_then(|service| service.ready.as_ref()).or(self.ready.as_ref())
    }

    fn token(&self, service: &str) -> Result<Option<Secret>, PlanError> {
        let token = self.services.get(service).and_then(|service| service.token.as_ref()?.token());
        let at = || PlanPath::of("target.services").key(service).key("token");
        token.map(TokenPlan::read).transpose().map_err(|error| PlanFault::from(error).at(at()))
    }

    /// Why connections cannot be as they are wanted, and the path to those.
    pub(crate) fn misfit_of_connections(&self) -> Option<(PlanPath, &'static str)> {
        let services = self.services.iter().filter_map(|(name, service)| {
            let at = PlanPath::of("target.services").key(name.as_str()).key("connection");
            service.connection.as_ref().map(|connection| (at, connection))
        });
        let own = (PlanPath::of("target").key("connection"), &self.connection);
        std::iter::once(own).chain(services).find_map(|(at, connection)| {
            let (key, why) = connection.misfit()?;
            Some((at.key(key), why))
        })
    }

    /// The most connections to an endpoint that any of its services allows, where one says so; the least of them.
    pub(crate) fn least_connections(&self) -> Option<usize> {
        let services = self.services.values().filter_map(|service| service.connection.as_ref());
        let all = services.chain([&self.connection]);
        all.flat_map(|connection| [connection.connections, connection.per_address])
            .flatten()
            .map(Count::get)
            .min()
    }

    /// Where TLS is not verified: `target`, or `target.services.NAME`.
    pub(crate) fn unverified(&self) -> Vec<String> {
        let services = self.services.iter().filter_map(|(name, service)| {
            let tls = service.tls.as_ref()?;
            tls.insecure.then(|| format!("target.services.{name}"))
        });
        self.tls.insecure.then(|| "target".to_owned()).into_iter().chain(services).collect()
    }

    /// What requests say of who sends them.
    fn user_agent(&self) -> HeaderValue {
        self.contact.as_ref().map_or_else(nameless, |contact| contact.user_agent().clone())
    }
}

impl ConnectionPlan {
    /// The URL of what is dialled for `url`; none for a Unix socket.
    pub(crate) fn dialled(&self, url: Uri) -> Option<Uri> {
        match (&self.unix_socket, &self.connect_to) {
            (Some(_), _) => None,
            (None, Some(address)) => Some(address.in_place_of(&url)),
            (None, None) => Some(url),
        }
    }

    fn dial_place(&self) -> Option<DialPlace> {
        let at_socket = self.unix_socket.clone().map(DialPlace::UnixSocket);
        at_socket.or_else(|| self.connect_to.as_ref().map(DialAddress::place))
    }

    /// The key that does not go with another one, and why.
    fn misfit(&self) -> Option<(&'static str, &'static str)> {
        if self.unix_socket.is_some() && self.connect_to.is_some() {
            return Some(("unix_socket", "connect_to is given too: only one of both may be"));
        }
        self.misfit_of_per_address().map(|why| ("per_address", why))
    }

    fn misfit_of_per_address(&self) -> Option<&'static str> {
        let per_address = self.per_address?;
        if self.http == VersionPlan::Http1 {
            return Some(
                "over HTTP/1.1 an exchange has its connection for itself: `connections` says how many there are",
            );
        }
        if !self.keepalive {
            return Some("without `keepalive` each operation has a connection of its own");
        }
        let is_more = self.connections.is_some_and(|connections| connections < per_address);
        is_more.then_some("it is more than `connections`")
    }
}

impl TlsPlan {
    fn config(&self) -> TlsConfig {
        TlsConfig {
            roots: self.roots.clone(),
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            insecure: self.insecure,
            server_name: self.server_name.clone(),
        }
    }
}

impl From<VersionPlan> for HttpVersion {
    fn from(plan: VersionPlan) -> Self {
        match plan {
            VersionPlan::Negotiated => Self::Negotiated,
            VersionPlan::Http1 => Self::Http1,
            VersionPlan::Http2 => Self::Http2,
            VersionPlan::Http2PriorKnowledge => Self::Http2PriorKnowledge,
        }
    }
}

impl From<BalancingPlan> for Balancing {
    fn from(plan: BalancingPlan) -> Self {
        match plan {
            BalancingPlan::RoundRobin => Self::RoundRobin,
            BalancingPlan::Random => Self::Random,
            BalancingPlan::LeastInFlight => Self::LeastInFlight,
            BalancingPlan::PickFirst => Self::PickFirst,
        }
    }
}
