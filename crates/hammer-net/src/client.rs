//! A shard's client: one call sends a request by balancing, on a kept connection or a new one, and reads the answer.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use hammer_measure::Now;
use hammer_measure::connection::ConnectionLog;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use tokio_rustls::TlsConnector;

use crate::attempt::Broken;
use crate::cluster::Cluster;
use crate::config::{ClientConfig, ConfigError, Resend};
use crate::context::ClientContext;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, FailureKind};
use crate::reactor::Reactor;
use crate::redirect::{Location, follow, is_redirect};
use crate::reference::Reference;
use crate::request::{Answer, Request};
use crate::resolve::Origin;
use crate::tls::{self, TlsError};

/// A client of the endpoints in its configuration. It belongs to one thread, and sends within a
/// [`tokio::task::LocalSet`] of a current-thread runtime with I/O and time.
pub struct Client {
    context: Rc<ClientContext>,
    origins: Origins,
    /// The path of the endpoints' URLs.
    prefix: Box<str>,
    cluster: Rc<Cluster>,
    /// The clusters of other origins that redirects led to.
    foreign: RefCell<Vec<(Scheme, Authority, Rc<Cluster>)>>,
}

impl Client {
    /// Reads the files that `config` names. Nothing is looked up or dialled before the first request.
    pub fn new(config: ClientConfig, clock: Rc<dyn Now>, log: ConnectionLog) -> Result<Self, ConfigError> {
        let context = Rc::new(ClientContext::new(config, clock, log)?);
        let config = &context.config;
        let prefix = config.endpoints.first().map_or("", |url| url.path()).trim_end_matches('/').into();
        let origins = Origins { tls: RefCell::default(), foreign_tls: OnceCell::new() };
        let own = config.endpoints.iter().map(|url| origins.own(config, url)).collect::<Result<_, _>>()?;
        let cluster = Rc::new(Cluster::new(&context, own, true));
        Ok(Self { context, origins, prefix, cluster, foreign: RefCell::default() })
    }

    /// `path`, which starts with `/` and may have a query, behind the path of the endpoints' URLs.
    pub fn path(&self, path: &str) -> Result<PathAndQuery, ConfigError> {
        let whole = match (&*self.prefix, path) {
            ("", "") => "/".to_owned(),
            (prefix, path) => format!("{prefix}{path}"),
        };
        let refused = || ConfigError::Path { path: path.to_owned() };
        if !whole.starts_with('/') {
            return Err(refused());
        }
        PathAndQuery::try_from(whole).map_err(|_| refused())
    }

    /// The path to which a `Location` leads that was answered to a request of `base` (RFC 9110 section 10.2.2); none where that is no URL, or
    /// of an origin that is none of the endpoints'.
    pub fn path_of_location(&self, location: &str, base: &PathAndQuery) -> Option<PathAndQuery> {
        let reference = Reference::new(location);
        let endpoints = &self.context.config.endpoints;
        let is_own = |authority: &str| {
            let scheme = reference.scheme;
            let is_same = |url: &Uri| {
                url.authority().is_some_and(|own| own.as_str().eq_ignore_ascii_case(authority))
                    && scheme.is_none_or(|scheme| {
                        url.scheme_str().is_some_and(|own| own.eq_ignore_ascii_case(scheme))
                    })
            };
            endpoints.iter().any(is_same)
        };
        let is_elsewhere = match (reference.scheme, reference.authority) {
            (_, Some(authority)) => !is_own(authority),
            (Some(_), None) => true,
            (None, None) => false,
        };
        if is_elsewhere {
            return None;
        }
        PathAndQuery::try_from(reference.target(base)).ok()
    }

    /// Looks up the endpoints and has connections established to each for so many operations at once, or as many as the
    /// configuration allows; over HTTP/2 one carries as many as there are streams.
    pub async fn warm_up(&self, operations: usize) -> Result<(), Failure> {
        self.cluster.resolve(&self.context).await?;
        let endpoints = self.cluster.active();
        let dials = endpoints.iter().map(|endpoint| endpoint.warm_up(&self.context, operations));
        futures::future::join_all(dials).await.into_iter().collect()
    }

    /// Host, port and address of every endpoint so far; [`Answer::endpoint`] is a place in it.
    pub fn endpoints(&self) -> Vec<String> {
        self.cluster.names()
    }

    /// Sends what follows to the next endpoint, by [`Balancing::PickFirst`](crate::Balancing::PickFirst) where there are
    /// several; says whether it does.
    pub fn pass_over(&self) -> bool {
        self.cluster.pass_over()
    }

    /// The `Authorization` that it sends with every request, where it has one.
    pub fn bearer(&self) -> Option<&HeaderValue> {
        self.context.bearer.as_ref()
    }

    /// The epoll of its sockets.
    pub fn reactor(&self) -> &Rc<Reactor> {
        &self.context.reactor
    }

    /// How many look-ups found their endpoints, the first one included.
    pub fn look_ups(&self) -> u64 {
        self.cluster.look_ups()
    }

    /// How many look-ups on the timer failed; the endpoints stayed as they were.
    pub fn failed_look_ups(&self) -> u64 {
        self.cluster.failed_look_ups()
    }

    /// Sends `request` and reads the whole answer, over redirects as far as the configuration says. Sent again is what
    /// [`Resend`] says, and nothing else. There is no timeout but that of the dial: a caller that drops the future cuts the
    /// operation off, and its connection (over HTTP/2 its stream) with it; `answer` holds the instants and bytes until then.
    pub async fn send(&self, request: &Request, answer: &mut Answer) -> Result<(), Failure> {
        self.send_as(request, None, answer).await
    }

    /// As [`Client::send`], with that `Authorization` in place of the client's, of which all holds: it follows to no other origin.
    pub async fn send_as(
        &self,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        answer.reset();
        let bearer = bearer.or(self.context.bearer.as_ref());
        let endpoint = match self.cluster.pick(&self.context) {
            Some(endpoint) => endpoint,
            None => self.first_endpoint(&self.cluster).await?,
        };
        self.send_over(endpoint, request, bearer, answer).await
    }

    /// The endpoints that the last look-up named, as places in [`Client::endpoints`], for [`Client::send_to`].
    ///
    /// # Errors
    /// Those of the first look-up.
    pub async fn servers(&self) -> Result<Vec<usize>, Failure> {
        let endpoints = self.cluster.current(&self.context).await?;
        Ok(endpoints.iter().filter_map(|endpoint| endpoint.index).collect())
    }

    /// Whether there are several endpoints, as far as that is known.
    pub fn are_several(&self) -> bool {
        self.cluster.active().len().max(self.context.config.endpoints.len()) > 1
    }

    /// As [`Client::send`], to the endpoint at that place of [`Client::endpoints`], whichever balancing would choose.
    pub async fn send_to(
        &self,
        server: usize,
        request: &Request,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        answer.reset();
        let gone = || Failure::new(FailureKind::Dns, "find the endpoint again");
        let endpoint = self.cluster.at(server).ok_or_else(gone)?;
        self.send_over(endpoint, request, self.context.bearer.as_ref(), answer).await
    }

    async fn send_over(
        &self,
        endpoint: Rc<Endpoint>,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        answer.endpoint = endpoint.index;
        self.exchange(&self.cluster, &endpoint, request, bearer, answer).await?;
        if self.context.config.redirects > 0 && is_redirect(answer.status) {
            Box::pin(self.follow(endpoint, request, bearer, answer)).await?;
        }
        let limit = request.limit.unwrap_or(self.context.config.response_limit);
        answer.decode_unasked(request, limit)
    }

    async fn first_endpoint(&self, cluster: &Rc<Cluster>) -> Result<Rc<Endpoint>, Failure> {
        Box::pin(cluster.resolve(&self.context)).await?;
        let none = || Failure::new(FailureKind::Dns, "find any endpoint");
        cluster.pick(&self.context).ok_or_else(none)
    }

    async fn exchange(
        &self,
        cluster: &Cluster,
        endpoint: &Rc<Endpoint>,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let _in_flight = endpoint.enter();
        let (mut fresh, mut attempts) = (false, 0);
        loop {
            attempts += 1;
            let broken = match endpoint.exchange(&self.context, request, bearer, answer, fresh).await {
                Ok(()) => return Ok(()),
                Err(broken) => broken,
            };
            let may_resend = self.context.config.resend != Resend::Never && attempts < MOST_ATTEMPTS;
            match broken {
                Broken::Unsent(_) if may_resend => self.context.note_redialled(answer),
                Broken::Unread(_) if may_resend => self.resends(answer),
                Broken::Idle(_) if !fresh => {
                    self.resends(answer);
                    fresh = true;
                }
                Broken::Unsent(failure)
                | Broken::Unread(failure)
                | Broken::Idle(failure)
                | Broken::Final(failure) => {
                    if failure.kind.is_of_dial() {
                        cluster.dial_failed(&self.context, endpoint);
                    }
                    return Err(failure);
                }
            }
        }
    }

    fn resends(&self, answer: &mut Answer) {
        answer.resent = true;
        self.context.log.resent();
    }

    /// Follows redirects from `endpoint`, with credentials only as long as they stay at its origin.
    async fn follow(
        &self,
        mut endpoint: Rc<Endpoint>,
        request: &Request,
        mut bearer: Option<&HeaderValue>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let first = answer.wire;
        let mut request = request.clone();
        let mut cluster = Rc::clone(&self.cluster);
        while is_redirect(answer.status) {
            let origin = &endpoint.origin;
            let here = Location {
                scheme: origin.scheme.clone(),
                authority: origin.authority.clone(),
                path: request.path.clone(),
            };
            if answer.redirects == self.context.config.redirects {
                return Err(here.refused("there are too many in a row"));
            }
            answer.redirects += 1;
            let to = here.next(&answer.headers)?;
            // What comes now has not been answered yet, whatever becomes of it.
            (answer.wire.first_byte, answer.wire.done, answer.wire.read) = (None, None, None);
            let is_same_origin = origin.is(&to.scheme, &to.authority);
            request = follow(&request, answer.status, to.path.clone(), is_same_origin);
            if !is_same_origin {
                if !request.body.is_empty() {
                    // Tokens stand in bodies too, and nobody knows in which.
                    return Err(here.refused("a body is not for another origin"));
                }
                bearer = None;
                cluster = self.cluster_of(&to, &here)?;
                endpoint = self.first_endpoint(&cluster).await?;
                answer.endpoint = endpoint.index;
            }
            answer.forget_body();
            self.exchange(&cluster, &endpoint, &request, bearer, answer).await?;
            answer.wire.sent = first.sent;
        }
        Ok(())
    }

    fn cluster_of(&self, to: &Location, from: &Location) -> Result<Rc<Cluster>, Failure> {
        let mut foreign = self.foreign.borrow_mut();
        let known =
            foreign.iter().find(|(scheme, authority, _)| *scheme == to.scheme && *authority == to.authority);
        if let Some((_, _, cluster)) = known {
            return Ok(Rc::clone(cluster));
        }
        let origin = self
            .origins
            .foreign(&self.context.config, to.scheme.clone(), to.authority.clone())
            .map_err(|error| from.refused(&error.to_string()))?;
        let cluster = Rc::new(Cluster::new(&self.context, vec![Rc::new(origin)], false));
        if foreign.len() == MOST_FOREIGN_ORIGINS {
            foreign.remove(0);
        }
        foreign.push((to.scheme.clone(), to.authority.clone(), Rc::clone(&cluster)));
        Ok(cluster)
    }
}

/// The origins of a client, and the TLS settings that they share.
struct Origins {
    tls: RefCell<Option<Arc<rustls::ClientConfig>>>,
    /// Of other origins that redirects led to.
    foreign_tls: OnceCell<Arc<rustls::ClientConfig>>,
}

impl Origins {
    fn own(&self, config: &ClientConfig, url: &Uri) -> Result<Rc<Origin>, ConfigError> {
        let parts = url.clone().into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(ConfigError::NoEndpoint);
        };
        let origin = Origin::new(scheme, authority, |host| {
            let name = tls::server_name(config.tls.server_name.as_deref().unwrap_or(host))?;
            Ok((TlsConnector::from(self.tls(config)?), name))
        })?;
        Ok(Rc::new(origin.dialled_at(config.dial_at.clone())))
    }

    /// An origin that is none of the configuration's: it is not told who the client is, and has its own name.
    fn foreign(
        &self,
        config: &ClientConfig,
        scheme: Scheme,
        authority: Authority,
    ) -> Result<Origin, TlsError> {
        Origin::new(scheme, authority, |host| {
            let name = tls::server_name(host)?;
            let own = self.tls(config)?;
            let tls = self.foreign_tls.get_or_init(|| tls::without_identity(&own));
            Ok((TlsConnector::from(Arc::clone(tls)), name))
        })
    }

    /// Made when the first `https` origin needs it.
    fn tls(&self, config: &ClientConfig) -> Result<Arc<rustls::ClientConfig>, TlsError> {
        if let Some(tls) = &*self.tls.borrow() {
            return Ok(Arc::clone(tls));
        }
        let tls = tls::client_config(&config.tls, config.version)?;
        *self.tls.borrow_mut() = Some(Arc::clone(&tls));
        Ok(tls)
    }
}

/// A server that turns away one connection after another keeps nobody for ever.
const MOST_ATTEMPTS: usize = 8;

/// Redirects that name ever new origins must not fill the memory.
const MOST_FOREIGN_ORIGINS: usize = 16;

#[cfg(test)]
mod tests;
