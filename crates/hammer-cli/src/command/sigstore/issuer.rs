//! `hammer sigstore issuer`: the issuer of a run, served before the run, since Fulcio looks it up when it starts.

use hammer_lab::handle::LabHandle;
use hammer_lab_sigstore::IssuerLabPlan;
use hammer_lab_sigstore::issuer::IssuerConfig;
use hammer_oauth::IssuerDocuments;
use hammer_report::ExitCode;
use hammer_sigstore::{IdentityPlan, SigstoreTargetPlan};
use serde_json::json;

use crate::args::IssuerArgs;
use crate::command::foreground::until_signal;
use crate::error::CliError;
use crate::plan::document::TargetAlone;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::read::{SourcedPlan, of_flags};
use crate::protocol::registry::Registry;
use crate::protocol::sigstore::issuer::{issuer_keys, listen, published};

use super::target::signer;

pub(super) fn serve(args: &IssuerArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let SourcedPlan { plan: identity, source } = identity(args, registry)?;
    let refused = |error: PlanError| CliError::from(error.placed(&source));
    let issuer = identity.issuer.as_ref().map_or_else(String::new, ToString::to_string);
    let keys = issuer_keys(args.seed, identity.signer);
    let documents = IssuerDocuments::new(&issuer, &[&keys]);
    let documents = documents.map_err(|why| refused(PlanFault::Misfit(why.to_string()).at(at("issuer"))))?;
    let listen = listen(&identity, &issuer);
    let listen = listen.ok_or_else(|| refused(PlanFault::Misfit(NOWHERE.to_owned()).at(at("issuer"))))?;
    let mut plan = IssuerLabPlan::default();
    plan.serve.listen = listen;
    let lab = LabHandle::spawn(IssuerConfig::new(plan, |_| published(documents)))?;
    until_signal(&configuration(&issuer, &identity.audience, &lab.url))?;
    drop(lab);
    Ok(ExitCode::Clean)
}

/// The issuer as a run's plan would have it.
fn identity(args: &IssuerArgs, registry: &Registry) -> Result<SourcedPlan<IdentityPlan>, PlanError> {
    let identity = json!({
        "issuer": args.url,
        "listen": args.listen,
        "signer": signer(args.rs256),
        "audience": args.audience,
    });
    let plan = json!({ "target": { "sigstore": { "identity": identity } } });
    let SourcedPlan { plan: TargetAlone { target }, source } = of_flags(plan, &FLAGS, registry.grammar())?;
    let plan = target.unnamed.get::<SigstoreTargetPlan>("sigstore").map(|plan| plan.identity.clone());
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
    PlanPath::of("target.sigstore.identity").key(key)
}

const FLAGS: [(&str, &str); 3] = [
    ("URL", "target.sigstore.identity.issuer"),
    ("--listen", "target.sigstore.identity.listen"),
    ("--audience", "target.sigstore.identity.audience"),
];
const NOWHERE: &str = "it is no address of loopback with a port; say by --listen where it is served";
