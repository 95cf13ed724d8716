//! `hammer sigstore issuer`: the issuer of a run, served before the run, since Fulcio looks it up when it starts.

use std::sync::Arc;

use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock as _;
use hammer_lab::handle::LabHandle;
use hammer_lab_sigstore::IssuerLabPlan;
use hammer_lab_sigstore::issuer::{IssuerConfig, IssuerTarget};
use hammer_measure::{Nanos, Now as _};
use hammer_oauth::{IssuerDocuments, IssuerKeys, IssuerUrlError};
use hammer_report::ExitCode;
use hammer_sigstore::{IdentityPlan, SigstoreTargetPlan, TokenSigner};
use hammer_synth::Seed;
use serde_json::json;

use crate::args::IssuerArgs;
use crate::command::foreground::{until_signal, until_signal_beside};
use crate::error::CliError;
use crate::plan::document::TargetAlone;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::read::{SourcedPlan, of_flags};
use crate::protocol::registry::Registry;
use crate::protocol::sigstore::issuer::{algorithm_of, listen, publish, published, unserved};

use super::target::signer;

pub(super) fn serve(args: &IssuerArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let SourcedPlan { plan: identity, source } = identity(args, registry)?;
    let refused = |error: PlanError| CliError::from(error.placed(&source));
    let issuer = identity.issuer.as_ref().map_or_else(String::new, ToString::to_string);
    let every = identity.rotate_every.map(|every| Nanos::from(every.duration()));
    if every.is_some_and(|every| every < LEAST_ROTATION) {
        return Err(refused(PlanFault::Misfit(TOO_OFTEN.to_owned()).at(at("rotate_every"))));
    }
    let mut keys = PublishedKeys::of(&issuer, args.seed, identity.signer);
    if every.is_some() {
        // The next one as well, so that a run that starts with this issuer never comes first.
        keys.add();
    }
    let documents = keys.documents();
    let documents = documents.map_err(|why| refused(PlanFault::Misfit(why.to_string()).at(at("issuer"))))?;
    let listen = listen(&identity, &issuer);
    let listen = listen.ok_or_else(|| refused(PlanFault::Misfit(NOWHERE.to_owned()).at(at("issuer"))))?;
    let mut plan = IssuerLabPlan::default();
    plan.serve.listen = listen;
    let lab = LabHandle::spawn(IssuerConfig::new(plan, |_| published(documents)));
    let unserved = |error| unserved(error, &identity, &PlanPath::of(IDENTITY)).placed(&source);
    let lab = lab.map_err(unserved)?;
    let said = configuration(&issuer, &identity.audience, &lab.url);
    let Some(every) = every else {
        until_signal(&said)?;
        return Ok(ExitCode::Clean);
    };
    let target = lab.shared_target();
    until_signal_beside(&said, keys.rotated(every, target))?;
    Ok(ExitCode::Clean)
}

/// What an issuer of a seed publishes, who keeps every key: what a run signs with is nobody's business here, and one that starts later
/// signs with the first.
struct PublishedKeys {
    issuer: String,
    seed: Seed,
    signer: TokenSigner,
    derived: Vec<IssuerKeys>,
}

impl PublishedKeys {
    /// Those of an issuer with one key.
    fn of(issuer: &str, seed: u64, signer: TokenSigner) -> Self {
        let mut keys =
            Self { issuer: issuer.to_owned(), seed: Seed::from_u64(seed), signer, derived: Vec::new() };
        keys.add();
        keys
    }

    /// Derives one more, which takes a tenth of a second for RS256.
    fn add(&mut self) {
        let index = self.derived.len() as u64;
        self.derived.push(IssuerKeys::derive(&self.seed, algorithm_of(self.signer), index));
    }

    fn documents(&self) -> Result<IssuerDocuments, IssuerUrlError> {
        IssuerDocuments::new(&self.issuer, &self.derived.iter().collect::<Vec<_>>())
    }

    /// Publishes one more each time, derived off the thread that waits for signals.
    async fn rotated(mut self, every: Nanos, target: Arc<IssuerTarget>) {
        let clock = MonotonicClock::starting_now();
        let mut due = clock.now();
        loop {
            due = due.saturating_add(every).max(clock.now());
            clock.sleep_until(due).await;
            let more = tokio::task::spawn_blocking(move || {
                self.add();
                let documents = self.documents();
                (self, documents)
            });
            // It is being stopped.
            let Ok((keys, documents)) = more.await else { return };
            self = keys;
            // The issuer's name was one before.
            if let Ok(documents) = documents {
                publish(&target, documents);
                tracing::info!(keys = self.derived.len(), "one more key is published");
            }
        }
    }
}

/// The issuer as a run's plan would have it.
fn identity(args: &IssuerArgs, registry: &Registry) -> Result<SourcedPlan<IdentityPlan>, PlanError> {
    let identity = json!({
        "issuer": args.url,
        "listen": args.listen,
        "signer": signer(args.rs256),
        "audience": args.audience,
        "rotate_every": args.rotate_every,
    });
    let plan = json!({ "target": { "sigstore": { "identity": identity } } });
    let SourcedPlan { plan: TargetAlone { target }, source } = of_flags(plan, &FLAGS, registry.grammar())?;
    let plan = target.unnamed.get::<SigstoreTargetPlan>("sigstore").map(SigstoreTargetPlan::identity);
    Ok(SourcedPlan { plan: plan.unwrap_or_default(), source })
}

/// What Fulcio's configuration needs to take tokens of the issuer, in YAML; a text in JSON is one there too.
fn configuration(issuer: &str, audience: &str, served: &str) -> String {
    let (issuer, audience) = (json!(issuer), json!(audience));
    format!(
        "# served at {served}\noidc-issuers:\n  {issuer}:\n    issuer-url: {issuer}\n    client-id: {audience}\n    type: email"
    )
}

fn at(key: &str) -> PlanPath {
    PlanPath::of(IDENTITY).key(key)
}

const IDENTITY: &str = "target.sigstore.identity";
const FLAGS: [(&str, &str); 4] = [
    ("URL", "target.sigstore.identity.issuer"),
    ("--listen", "target.sigstore.identity.listen"),
    ("--audience", "target.sigstore.identity.audience"),
    ("--rotate-every", "target.sigstore.identity.rotate_every"),
];
const LEAST_ROTATION: Nanos = Nanos::from_secs(1);
const TOO_OFTEN: &str = "a key is used for a second at least";
const NOWHERE: &str = "it is no address of loopback with a port; say by --listen where it is served";
