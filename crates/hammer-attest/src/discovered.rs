//! What the frontends of a service said of themselves before a run.

use std::rc::Rc;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_net::ClientConfig;

use crate::discovery::{DiscoveryClient, DiscoveryDocument};
use crate::error::AttestError;
use crate::plan::DiscoveryKind;

/// The documents of a service, of each of its frontends that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// By the frontend's host and port; first those that say that they are ready, and of either in the order in which they are named.
    pub documents: Vec<(String, DiscoveryDocument)>,
    /// Which frontends did not answer, and why.
    pub missing: Vec<(String, String)>,
}

/// Asks the frontends of one service for their documents, all at once. Those that have not answered 2 s behind the first that did are gone on
/// without; until then each exchange may take `timeout`. Must be called where local tasks can be spawned.
///
/// # Errors
/// When no client can be made, or none of them answers with a document.
pub async fn discover(
    kind: DiscoveryKind,
    config: ClientConfig,
    timeout: Nanos,
    clock: &Rc<dyn Clock>,
) -> Result<Discovered, AttestError> {
    let undiscovered = |why| AttestError::Undiscovered { kind, why };
    let asked = DiscoveryClient::new(kind, config, clock)?;
    let (names, frontends) = asked.named_frontends().await.map_err(undiscovered)?;
    let of = async |frontend| (frontend, asked.ask(frontend, timeout).await.map(|(document, _)| document));
    let mut asking: FuturesUnordered<_> = frontends.iter().map(|frontend| of(*frontend)).collect();
    let mut answers: Vec<(usize, Result<DiscoveryDocument, String>)> = Vec::new();
    let mut deadline = Nanos(u64::MAX);
    loop {
        let answer = tokio::select! {
            answer = asking.next() => answer,
            () = clock.sleep_until(deadline) => None,
        };
        let Some((frontend, document)) = answer else { break };
        if document.is_ok() && deadline == Nanos(u64::MAX) {
            deadline = clock.now().saturating_add(BEHIND_THE_FIRST);
        }
        answers.push((frontend, document));
    }
    let silent = frontends.iter().filter(|frontend| answers.iter().all(|(known, _)| known != *frontend));
    let silent: Vec<_> = silent
        .map(|frontend| (*frontend, Err(format!("it did not answer within {BEHIND_THE_FIRST}"))))
        .collect();
    answers.extend(silent);
    answers.sort_by_key(|(frontend, document)| {
        (!document.as_ref().is_ok_and(DiscoveryDocument::is_ready), *frontend)
    });
    let (mut documents, mut missing) = (Vec::new(), Vec::new());
    for (frontend, document) in answers {
        let name = names.get(frontend).cloned().unwrap_or_default();
        match document {
            Ok(document) => documents.push((name, document)),
            Err(why) => missing.push((name, why)),
        }
    }
    match (documents.is_empty(), missing.first()) {
        (true, Some((_, why))) => Err(undiscovered(why.clone())),
        (true, None) => Err(undiscovered(NO_FRONTEND.to_owned())),
        (false, _) => Ok(Discovered { documents, missing }),
    }
}

impl Discovered {
    /// What the reader of a report must be told of them.
    pub fn notes(&self, kind: DiscoveryKind) -> Vec<String> {
        let service = kind.name();
        let missing = self.missing.iter().map(|(frontend, why)| {
            format!("{frontend}, a frontend of {service}, showed no discovery document before the run: {why}")
        });
        let unready = self.documents.iter().filter(|(_, document)| !document.is_ready());
        let unready = unready.map(|(frontend, document)| {
            let state = match document.state.as_str() {
                "" => "not how it is",
                state => state,
            };
            let who = if self.documents.len() + self.missing.len() > 1 { frontend } else { service };
            format!("{who} said `{state}` of itself before the run, and not `READY`")
        });
        missing.chain(unready).chain(self.of_several_releases(service)).collect()
    }

    fn of_several_releases(&self, service: &str) -> Option<String> {
        let (_, first) = self.documents.first()?;
        let is_other = |document: &DiscoveryDocument| {
            (&document.version, document.dialect()) != (&first.version, first.dialect())
        };
        if !self.documents.iter().any(|(_, document)| is_other(document)) {
            return None;
        }
        let named: Vec<String> = self
            .documents
            .iter()
            .map(|(frontend, document)| format!("{frontend} is {}", document.version))
            .collect();
        Some(format!(
            "the frontends of {service} are of several releases ({}): endorsements are written as the first of them takes them, and of a device each may say what its release does",
            named.join(", ")
        ))
    }
}

/// A frontend that hangs must not hold up a run that has others.
const BEHIND_THE_FIRST: Nanos = Nanos::from_secs(2);
const NO_FRONTEND: &str = "its name leads to no address";
