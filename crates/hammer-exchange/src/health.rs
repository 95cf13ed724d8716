//! Whether servers of gRPC say that they serve (`grpc.health.v1.Health`), asked before a run: of each address behind a service's URLs.

use std::rc::Rc;

use bytes::BytesMut;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_messages::health::{CHECK, HealthCheckRequest, HealthCheckResponse, ServingStatus};
use hammer_net::grpc::{GrpcStatus, encode, unary_reply, unary_request};
use hammer_net::{Answer, Balancing, Client, ClientConfig, ConfigError};
use prost::Message as _;

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerHealth {
    /// Its state.
    Says(ServingStatus),
    /// It does not offer that it be asked.
    NotOffered,
    /// Why there is no answer, or none that says it.
    Unanswered(String),
}

/// Asks each address behind the endpoints of `config` how its server is; each may take `timeout`. Must be called where local tasks can be
/// spawned.
///
/// # Errors
/// Those of [`Client::new`]. A server that does not answer is none.
pub async fn server_health(
    config: ClientConfig,
    timeout: Nanos,
    clock: &Rc<dyn Clock>,
) -> Result<Vec<(String, ServerHealth)>, ConfigError> {
    let config = ClientConfig {
        balancing: Balancing::RoundRobin,
        connections: 1,
        per_address: None,
        read_within: std::time::Duration::ZERO,
        ..config
    };
    let urls = config.endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let client = Client::new(config, clock.clone(), ConnectionLog::default())?;
    let asked = encode(&HealthCheckRequest::default(), &mut BytesMut::new());
    let request = unary_request(client.path(CHECK)?, asked.unwrap_or_default());
    let (mut answer, mut found) = (Answer::new(), Vec::<Option<ServerHealth>>::new());
    let mut tries = 0;
    loop {
        let too_late = clock.sleep_until(clock.now().saturating_add(timeout));
        let health = tokio::select! {
            sent = client.send(&request, &mut answer) => match sent {
                Ok(()) => health_of(&answer),
                Err(why) => ServerHealth::Unanswered(format!("failed to {why}")),
            },
            () = too_late => ServerHealth::Unanswered(format!("it did not answer within {timeout}")),
        };
        let names = client.endpoints();
        found.resize(names.len(), None);
        match answer.endpoint.and_then(|place| found.get_mut(place)) {
            Some(of_server) => {
                of_server.get_or_insert(health);
            }
            // Its name was not found.
            None => return Ok(vec![(urls, health)]),
        }
        tries += 1;
        // In turn, but for those whose dial failed.
        if found.iter().all(Option::is_some) || tries >= 2 * names.len() {
            let all = names.into_iter().zip(found);
            return Ok(all.filter_map(|(name, health)| Some((name, health?))).collect());
        }
    }
}

fn health_of(answer: &Answer) -> ServerHealth {
    match unary_reply(answer) {
        Ok(reply) => match reply.status {
            GrpcStatus::Ok => match HealthCheckResponse::decode(reply.message) {
                Ok(said) => ServerHealth::Says(said.status()),
                Err(_) => ServerHealth::Unanswered("its answer cannot be read".to_owned()),
            },
            GrpcStatus::Unimplemented => ServerHealth::NotOffered,
            status => ServerHealth::Unanswered(format!("it answered with {}", status.name())),
        },
        // No server of gRPC answers so.
        Err(fault) => ServerHealth::Unanswered(fault.name().to_owned()),
    }
}
