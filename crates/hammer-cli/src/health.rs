//! What the servers of services that are called over gRPC say of themselves before a run, for its report.

use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_exchange::health::{ServerHealth, server_health};
use hammer_measure::Nanos;
use hammer_messages::health::ServingStatus;

use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::client_fault::unusable;
use crate::protocol::CalledService;

/// Asks each server, and says in a sentence what it answered: aloud, where it does not serve. None that does not offer to be asked is
/// named.
///
/// # Errors
/// When no client can be made.
pub(crate) fn said(plan: &Plan, called: Vec<CalledService>) -> Result<Vec<String>, CliError> {
    if called.is_empty() {
        return Ok(Vec::new());
    }
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    before_run::ask(async {
        let mut notes = Vec::new();
        for CalledService { name, endpoints } in called {
            let mut client = plan.target.client(None, endpoints, 1, plan.seed)?;
            // What cannot be called at all is refused by whoever makes its lane.
            let Some(version) = client.version.of_calls() else { continue };
            client.version = version;
            let asked = server_health(client, PATIENCE, &clock).await;
            let asked = asked.map_err(|error| unusable(&plan.target, None, error))?;
            notes.extend(asked.into_iter().filter_map(|(server, health)| sentence(name, &server, &health)));
        }
        Ok(notes)
    })?
}

fn sentence(name: &str, server: &str, health: &ServerHealth) -> Option<String> {
    Some(match health {
        ServerHealth::Says(ServingStatus::Serving) => {
            format!("{name}: {server} says that it serves (grpc.health)")
        }
        ServerHealth::Says(ServingStatus::NotServing) => {
            format!("{name}: {server} SAYS THAT IT DOES NOT SERVE (grpc.health)")
        }
        ServerHealth::Says(ServingStatus::Unknown | ServingStatus::ServiceUnknown) => {
            format!("{name}: {server} does not know whether it serves (grpc.health)")
        }
        ServerHealth::NotOffered => return None,
        ServerHealth::Unanswered(why) => {
            format!("{name}: whether {server} serves is not known (grpc.health): {why}")
        }
    })
}

/// How long a server may take to say it.
const PATIENCE: Nanos = Nanos::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_serve_is_told_aloud_and_one_that_is_not_asked_is_not_told_at_all() {
        let told = |health| sentence("trillian", "127.0.0.1:8090", &health);
        let aloud = told(ServerHealth::Says(ServingStatus::NotServing)).unwrap();
        assert_eq!(aloud, "trillian: 127.0.0.1:8090 SAYS THAT IT DOES NOT SERVE (grpc.health)");
        let serves = told(ServerHealth::Says(ServingStatus::Serving)).unwrap();
        assert_eq!(serves, "trillian: 127.0.0.1:8090 says that it serves (grpc.health)");
        assert_eq!(told(ServerHealth::NotOffered), None);
        let unknown = told(ServerHealth::Unanswered("failed to dial".to_owned())).unwrap();
        assert!(unknown.ends_with("is not known (grpc.health): failed to dial"), "{unknown}");
    }
}
