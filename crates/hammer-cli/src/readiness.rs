//! Whether the target is ready: before the first arrival, and once a second beside the load.

use std::rc::Rc;

use futures::future::join_all;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Balancing, Client, ClientConfig, ConfigError, Request};
use http::Uri;

use crate::plan::Plan;
use crate::plan::client_fault::unusable;
use crate::plan::error::PlanError;
use crate::plan::ready::{ExpectedAnswer, ReadyPlan};
use crate::protocol::service::OpenService;

mod observer;
mod wait;

pub(crate) use observer::ReadinessObserver;
pub(crate) use wait::ReadyWait;

/// A URL of the target, what is asked of each server behind it, and what is expected.
#[derive(Clone, Debug)]
pub(crate) struct ProbedUrl {
    url: Uri,
    /// The service's name in the plan, where it has one.
    service: Option<String>,
    client: ClientConfig,
    ready: ReadyPlan,
}

/// Asks the servers behind a URL by connections of its own, on the thread that opened it, within a `LocalSet`.
struct Prober {
    client: Client,
    request: Request,
    /// Host and port of the URL.
    authority: String,
    path: String,
    expect: ExpectedAnswer,
    clock: Rc<dyn Clock>,
}

/// What was seen of a server.
struct Seen {
    /// Host, port and path, and the address where the host is a name.
    endpoint: String,
    /// What it said in place of being ready, as a sentence without its full stop.
    ready: Result<(), String>,
}

impl ProbedUrl {
    /// Each URL of those services, where the plan says when they are ready: reached as operations reach them, by the token of
    /// the service where that is in a file or the environment.
    ///
    /// # Errors
    /// A token that cannot be read.
    pub(crate) fn all(plan: &Plan, services: Vec<OpenService>) -> Result<Vec<Self>, PlanError> {
        let mut probed = Vec::new();
        for OpenService { name, endpoints } in services {
            let Some(ready) = plan.target.ready_of(name.as_deref()) else { continue };
            for url in endpoints {
                let client = plan.target.client(name.as_deref(), vec![url.clone()], 1, plan.seed)?;
                let client = ClientConfig {
                    balancing: Balancing::RoundRobin,
                    connections: 1,
                    per_address: None,
                    read_within: std::time::Duration::ZERO,
                    // An instance that joins is asked as well.
                    resolve_every: Some(EVERY.into()),
                    response_limit: MOST_BYTES,
                    ..client
                };
                probed.push(Self { url, service: name.clone(), client, ready: ready.clone() });
            }
        }
        Ok(probed)
    }

    /// Where it is dialled; none for a Unix socket.
    pub(crate) fn dialled(&self, plan: &Plan) -> Option<Uri> {
        plan.target.connection_of(self.service.as_deref()).dialled(self.url.clone())
    }

    /// Whether the other is the same URL of the same service.
    fn is(&self, other: &Self) -> bool {
        self.url == other.url && self.service == other.service
    }

    /// Why no client can ask it.
    fn unusable(&self, plan: &Plan, error: ConfigError) -> PlanError {
        unusable(&plan.target, self.service.as_deref(), error)
    }
}

impl Prober {
    fn open(probed: &ProbedUrl, clock: &Rc<dyn Clock>) -> Result<Self, ConfigError> {
        let client = Client::new(probed.client.clone(), clock.clone(), ConnectionLog::default())?;
        let path = client.path(probed.ready.path.as_str())?;
        let authority = probed.url.authority().map_or_else(String::new, ToString::to_string);
        let (shown, expect) = (path.path().to_owned(), probed.ready.expect.clone());
        Ok(Self { client, request: Request::get(path), authority, path: shown, expect, clock: clock.clone() })
    }

    /// Asks each server that the URL leads to now, all at once; each may take that long.
    async fn look(&self, within: Nanos) -> Vec<Seen> {
        let servers = match self.client.servers().await {
            Ok(servers) => servers,
            Err(failure) => {
                let endpoint = place(&self.authority, &self.path);
                return vec![Seen { endpoint, ready: Err(format!("failed to {failure}")) }];
            }
        };
        let names = self.client.endpoints();
        let known = servers.into_iter().filter_map(|server| Some((server, names.get(server)?)));
        join_all(known.map(|(server, name)| async move {
            Seen { endpoint: place(name, &self.path), ready: self.ask(server, within).await }
        }))
        .await
    }

    async fn ask(&self, server: usize, within: Nanos) -> Result<(), String> {
        let mut answer = Answer::new();
        let too_late = self.clock.sleep_until(self.clock.now().saturating_add(within));
        tokio::select! {
            sent = self.client.send_to(server, &self.request, &mut answer) => {
                sent.map_err(|failure| format!("failed to {failure}"))?;
            }
            () = too_late => return Err(format!("it did not answer within {within}")),
        }
        self.expect.hold(answer.status.as_u16(), &answer.body)
    }
}

/// The path at a server, which is named by host, port and, where the host is a name, its address.
fn place(server: &str, path: &str) -> String {
    match server.split_once(" at ") {
        Some((authority, address)) => format!("{authority}{path} at {address}"),
        None => format!("{server}{path}"),
    }
}

/// How often it is asked beside the load, and how long an answer may take there.
const EVERY: Nanos = Nanos::from_secs(1);
/// Of an answer that says how a server is.
const MOST_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stands_behind_the_host_and_before_its_address() {
        assert_eq!(place("127.0.0.1:80", "/health"), "127.0.0.1:80/health");
        assert_eq!(place("localhost:80 at 127.0.0.1:80", "/"), "localhost:80/ at 127.0.0.1:80");
    }
}
