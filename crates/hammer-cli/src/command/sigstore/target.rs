//! The services of a line, as a plan would have them.

use std::path::PathBuf;

use hammer_core::clock::unix_millis;
use hammer_sigstore::SigstoreTargetPlan;
use serde_json::{Value, json};

use crate::args::{
    FillArgs, IdentityArgs, MixedArgs, RekorPlaceArgs, ServicesArgs, SignArgs, TrustArgs, TrustedReachArgs,
    TsaArgs, VerifyArgs,
};
use crate::error::{CliError, UsageError};

/// What a signing configuration says of the services that a line does not name itself.
#[derive(Default)]
pub(super) struct LocatedServices {
    has_rekor: bool,
    has_rekor_tiles: bool,
    has_timestamp: bool,
}

impl TrustArgs {
    /// Which services the signing configuration knows, where there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub(super) fn located(&self) -> Result<LocatedServices, CliError> {
        let plan = SigstoreTargetPlan {
            signing_config: self.signing_config.clone(),
            ..SigstoreTargetPlan::default()
        };
        let located = plan.located(unix_millis() / 1000);
        let located = located.map_err(|source| UsageError::Sigstore { flag: "--signing-config", source })?;
        Ok(LocatedServices {
            has_rekor: !located.plan.rekor_url.is_empty(),
            has_rekor_tiles: !located.plan.rekor_tiles_url.is_empty(),
            has_timestamp: !located.plan.timestamp_url.is_empty(),
        })
    }

    /// Adds them to the services of a plan.
    fn add_to(&self, sigstore: &mut Value) {
        sigstore["signing_config"] = json!(self.signing_config);
        sigstore["trusted_root"] = json!(self.trusted_root);
        sigstore["trust"] = json!(self.trust.as_deref().unwrap_or("plan"));
    }
}

impl RekorPlaceArgs {
    /// Adds where that is to the services of a plan.
    fn add_to(&self, sigstore: &mut Value) {
        sigstore["rekor_url"] = urls(self.rekor.as_ref());
        sigstore["rekor_tiles_url"] = urls(self.rekor_tiles.as_ref());
        sigstore["rekor_tiles_read_url"] = urls(self.rekor_tiles_read.as_ref());
        sigstore["rekor_tiles_origin"] = json!(self.rekor_tiles_origin);
    }

    /// What a plan calls it; where both are known, but neither is named, it is the later version.
    const fn version(&self, located: &LocatedServices) -> &'static str {
        match (&self.rekor, &self.rekor_tiles) {
            (Some(_), _) => "v1",
            (None, Some(_)) => "v2",
            (None, None) if located.has_rekor_tiles => "v2",
            (None, None) if located.has_rekor => "v1",
            (None, None) => "none",
        }
    }
}

impl SignArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Value {
        self.services.target(&self.log.place)
    }

    /// What its flows do.
    pub(super) fn flows(&self, located: &LocatedServices) -> Value {
        let mut flows = self.services.flows(self.log.place.version(located), !self.log.no_audit, located);
        let place = if self.has_bundle_folder() { "folder" } else { "file" };
        flows["bundles"] =
            json!(self.bundle.as_ref().map(|path| json!({ place: path, "first": self.bundles })));
        flows["artifact_file"] = json!(self.artifact);
        flows["entry"] = json!(if self.attest { "dsse" } else { "hashedrekord" });
        flows["request"] = json!(if self.csr { "csr" } else { "key" });
        flows
    }

    /// Finds what the flows lack that a flag asks for. The plan would find it too, and tell it by its keys, which no argument has.
    ///
    /// # Errors
    /// The flag, and those that would give it.
    pub(super) fn check(&self, located: &LocatedServices) -> Result<(), UsageError> {
        let (flag, lacks) = match self.log.place.version(located) {
            "none" if self.attest => ("--attest", NO_LOG_TO_ATTEST_IN),
            "none" if self.bundle.is_some() => ("--bundle", NO_LOG_OF_BUNDLE),
            "v2" if self.bundle.is_some() && !self.services.has_timestamp(located) => {
                ("--bundle", NO_TIME_OF_BUNDLE)
            }
            _ => return Ok(()),
        };
        Err(UsageError::Lacking { flag, lacks })
    }

    /// Whether it is of one flow that is left in a file.
    pub(super) fn is_of_one(&self) -> bool {
        self.bundle.is_some() && !self.has_bundle_folder()
    }

    fn has_bundle_folder(&self) -> bool {
        let is_one = |path: &PathBuf| path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        self.bundle.as_ref().is_some_and(is_one)
    }
}

impl FillArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Value {
        self.services.target(&self.log.place)
    }

    /// What its flows do.
    pub(super) fn sign_flows(&self, located: &LocatedServices) -> Value {
        self.services.flows(self.log.place.version(located), !self.log.no_audit, located)
    }

    /// How much is filled, and what is kept of it.
    pub(super) fn fill(&self) -> Value {
        json!({
            "workload": "sign",
            "operations": whole_number(&self.flows),
            "users": whole_number(&self.users),
            "corpus": self.corpus,
            "resume": !self.anew,
            "timeout": self.duration,
            "most_failed": self.most_failed,
        })
    }
}

impl VerifyArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Value {
        let (fulcio, timestamp) = (urls(self.fulcio.as_ref()), urls(self.timestamp.as_ref()));
        let mut sigstore = json!({ "fulcio_url": fulcio, "timestamp_url": timestamp });
        self.log.add_to(&mut sigstore);
        self.trust.add_to(&mut sigstore);
        target(&self.reach, &sigstore)
    }

    /// What its flows do, which read that corpus.
    pub(super) fn flows(&self, corpus: &PathBuf, located: &LocatedServices) -> Value {
        json!({
            "rekor": self.log.version(located),
            "by": self.by,
            "corpus": corpus,
            "draw": draw(&self.draw),
            "timestamp_chain": self.timestamp.is_some() || located.has_timestamp,
            "audit": !self.no_audit,
        })
    }

    /// What fills a log that has nothing to read yet: entries by keys alone, for which nobody but the log is asked.
    pub(super) fn filling_flows(&self, located: &LocatedServices) -> Value {
        json!({ "fulcio": "none", "rekor": self.log.version(located), "timestamp": false, "audit": !self.no_audit })
    }

    /// How much of that is logged first, to that corpus.
    pub(super) fn fill(&self, corpus: &PathBuf) -> Value {
        let operations = self.fill.as_deref().unwrap_or(FILLED_FIRST);
        json!({ "workload": "fill", "operations": whole_number(operations), "users": 10, "corpus": corpus })
    }
}

/// `zipf=1.1` is what a plan writes as `{ zipf: 1.1 }`.
fn draw(text: &str) -> Value {
    match text.split_once('=') {
        Some((draw, of)) => json!({ draw: number(of) }),
        None => json!(text),
    }
}

/// A number where it is one: what is wrong with the text, the plan says.
fn number(text: &str) -> Value {
    serde_json::from_str::<serde_json::Number>(text).map_or_else(|_| json!(text), Value::Number)
}

/// A whole number where it is one. Anything else stays the text that it is, by which it is told: as a number it would be rounded.
fn whole_number(text: &str) -> Value {
    serde_json::from_str::<u64>(text).map_or_else(|_| json!(text), Value::from)
}

impl MixedArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Value {
        self.services.target(&self.log)
    }

    /// What its sign flows do.
    pub(super) fn sign_flows(&self, located: &LocatedServices) -> Value {
        self.services.flows(self.log.version(located), !self.no_audit, located)
    }

    /// What its verify flows do.
    pub(super) fn verify_flows(&self, located: &LocatedServices) -> Value {
        let timestamp_chain = self.services.has_timestamp(located);
        let (rekor, audit) = (self.log.version(located), !self.no_audit);
        json!({ "rekor": rekor, "timestamp_chain": timestamp_chain, "audit": audit })
    }
}

impl TsaArgs {
    /// As a plan would have it.
    pub(super) fn target(&self) -> Value {
        let (chain, root) = (&self.chain, &self.trusted_root);
        let trust = self.trust.as_deref().unwrap_or("plan");
        let sigstore = json!({
            "timestamp_url": self.url,
            "timestamp_chain": chain,
            "trusted_root": root,
            "trust": trust,
        });
        target(&self.reach, &sigstore)
    }
}

impl ServicesArgs {
    fn target(&self, log: &RekorPlaceArgs) -> Value {
        let mut sigstore = self.sigstore();
        log.add_to(&mut sigstore);
        self.trust.add_to(&mut sigstore);
        target(&self.reach, &sigstore)
    }

    fn sigstore(&self) -> Value {
        let over = |is_grpc: bool| urls(self.fulcio.as_ref().filter(|_| self.is_grpc() == is_grpc));
        json!({
            "fulcio_url": over(false),
            "fulcio_grpc_url": over(true),
            "timestamp_url": urls(self.timestamp.as_ref()),
            "identity": self.identity.plan(),
        })
    }

    fn flows(&self, rekor: &str, audit: bool, located: &LocatedServices) -> Value {
        json!({
            "fulcio": self.fulcio_interface,
            "rekor": rekor,
            "timestamp": self.has_timestamp(located),
            "timestamp_entry": self.timestamp_entry,
            "identities": self.identities,
            "artifacts": self.artifacts,
            "audit": audit,
        })
    }

    const fn has_timestamp(&self, located: &LocatedServices) -> bool {
        self.timestamp.is_some() || located.has_timestamp
    }

    fn is_grpc(&self) -> bool {
        self.fulcio_interface == "grpc"
    }
}

impl IdentityArgs {
    /// Which argument stands for the token.
    pub(super) const fn token_flag(&self) -> (&'static str, &'static str) {
        (
            if self.token_env.is_some() { "--token-env" } else { "--token-file" },
            "target.sigstore.identity.token",
        )
    }

    fn plan(&self) -> Value {
        let has_token = self.token_file.is_some() || self.token_env.is_some();
        json!({
            "issuer": self.issuer,
            "listen": self.listen,
            "signer": signer(self.rs256),
            "audience": self.audience,
            "token": has_token.then(|| json!({ "file": self.token_file, "env": self.token_env })),
            "subject": self.subject,
        })
    }
}

/// The target of those services.
fn target(reached: &TrustedReachArgs, sigstore: &Value) -> Value {
    let mut target = reached.reach.target("sigstore", sigstore);
    if reached.no_preflight {
        target["preflight"] = json!(false);
    }
    target["connection"] = json!({ "max_idle": MAX_IDLE });
    target
}

/// What a plan calls the algorithm of a token's signature.
pub(super) const fn signer(rs256: bool) -> &'static str {
    if rs256 { "rs256" } else { "es256" }
}

/// A list, since a service that no flow goes to has none.
fn urls(url: Option<&String>) -> Value {
    json!(url.into_iter().collect::<Vec<_>>())
}

/// Which key each argument stands for, of those that have it: what is missing in the trusted root is told by the key that would name
/// it, or would name a file in place of it.
pub(super) const FLAGS: [(&str, &str); 37] = [
    ("--bundle", "workloads[0].sigstore_sign.bundles"),
    ("--bundles", "workloads[0].sigstore_sign.bundles.first"),
    ("--artifact", "workloads[0].sigstore_sign.artifact_file"),
    ("--attest", "workloads[0].sigstore_sign.entry"),
    ("--csr", "workloads[0].sigstore_sign.request"),
    ("--fulcio", "target.sigstore.fulcio_url"),
    ("--fulcio", "target.sigstore.fulcio_grpc_url"),
    ("--rekor", "target.sigstore.rekor_url"),
    ("--rekor-tiles", "target.sigstore.rekor_tiles_url"),
    ("--rekor-tiles-read", "target.sigstore.rekor_tiles_read_url"),
    ("--rekor-tiles-origin", "target.sigstore.rekor_tiles_origin"),
    ("--timestamp", "target.sigstore.timestamp_url"),
    ("--trusted-root", "target.sigstore.trusted_root"),
    ("--signing-config", "target.sigstore.signing_config"),
    ("--trust", "target.sigstore.trust"),
    ("--trusted-root", "target.sigstore.fulcio_chain"),
    ("--trusted-root", "target.sigstore.rekor_key"),
    ("--trusted-root", "target.sigstore.rekor_tiles_key"),
    ("--trusted-root", "target.sigstore.timestamp_chain"),
    ("--trusted-root", "workloads[0].sigstore_sign.fulcio_chain"),
    ("--trusted-root", "workloads[0].sigstore_sign.rekor_key"),
    ("--trusted-root", "workloads[0].sigstore_sign.rekor_tiles_key"),
    ("--trusted-root", "workloads[0].sigstore_sign.timestamp_chain"),
    ("--trusted-root", "workloads[0].sigstore_timestamp.timestamp_chain"),
    ("--trusted-root", "workloads[0].sigstore_verify.fulcio_chain"),
    ("--trusted-root", "workloads[0].sigstore_verify.rekor_key"),
    ("--trusted-root", "workloads[0].sigstore_verify.timestamp_chain"),
    ("--trusted-root", "workloads[1].sigstore_verify.fulcio_chain"),
    ("--trusted-root", "workloads[1].sigstore_verify.rekor_key"),
    ("--trusted-root", "workloads[1].sigstore_verify.rekor_tiles_key"),
    ("--trusted-root", "workloads[1].sigstore_verify.timestamp_chain"),
    ("--listen", "target.sigstore.identity.listen"),
    ("--issuer", "target.sigstore.identity.issuer"),
    ("--audience", "target.sigstore.identity.audience"),
    ("--subject", "target.sigstore.identity.subject"),
    ("--identities", "workloads[0].sigstore_sign.identities"),
    ("--artifacts", "workloads[0].sigstore_sign.artifacts"),
];

const NO_LOG_TO_ATTEST_IN: &str = "there is no log that it is an entry of: give --rekor or --rekor-tiles";
const NO_LOG_OF_BUNDLE: &str = "it holds the entry of a log: give --rekor or --rekor-tiles";
const NO_TIME_OF_BUNDLE: &str = "Rekor v2 does not say when something was signed: give --timestamp";
/// Flows that `verify` logs first where it is told of no corpus.
const FILLED_FIRST: &str = "100";
/// Fulcio closes a connection that is silent for 30 s, Rekor v2 for 20 s.
const MAX_IDLE: &str = "15s";
