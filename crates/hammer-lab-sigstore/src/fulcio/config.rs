//! The embedded Fulcio as it starts: a plan, an authority, whose tokens it takes, and the log that it submits to.

use std::sync::Arc;

use hammer_lab::{
    FaultScript, LabError, clock::Clock, handle::LabConfig, lie_rule::AnswerLies, serve::ServePlan,
};

use super::{
    ct_log::{CtLogClient, CtLogForFulcio},
    issuance::{AnotherAuthor, Issuance},
    plan::FulcioLabPlan,
    target::FulcioTarget,
};
use crate::token::{TokenVerifier, TrustedIssuer};
use hammer_lab_authority::{
    Authority, CertifiedUse, LabSigner,
    certificate::{CODE_SIGNING, name},
    der::UTF8_STRING,
};

/// Everything that the embedded Fulcio needs to start. Its root is known before that, so that a log can be told it.
#[derive(Debug)]
pub struct FulcioConfig {
    plan: FulcioLabPlan,
    authority: Authority,
    /// Whose tokens it takes.
    pub issuers: Vec<TrustedIssuer>,
    /// The log whose SCT each certificate has; none without it.
    pub ct_log: Option<CtLogForFulcio>,
}

impl FulcioConfig {
    /// The authority of a plan, made at `unix_ms`, with nobody's tokens and no log yet.
    ///
    /// # Errors
    /// There is no randomness for the key.
    pub fn from_plan(plan: FulcioLabPlan, unix_ms: u64) -> Result<Self, LabError> {
        let authority = authority(&plan, "", plan.key_seed, unix_ms)?;
        Ok(Self { plan, authority, issuers: Vec::new(), ct_log: None })
    }

    /// Has it look up the keys of that issuer, and take its tokens.
    pub fn look_up(&mut self, issuer: String) {
        self.plan.issuers.push(issuer);
    }

    /// What signs the certificates.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Why a lie of the plan has no meaning: one about SCTs needs a log.
    fn check_lies(&self) -> Result<(), LabError> {
        let place = match &self.ct_log {
            Some(_) => None,
            None => self.plan.lies.iter().position(|lie| lie.kind.is_of_scts()),
        };
        place.map_or(Ok(()), |place| {
            let reason = "a lie about SCTs needs a CT log".to_owned();
            Err(LabError::Plan { key: format!("lies[{place}].kind").into(), reason })
        })
    }
}

impl LabConfig for FulcioConfig {
    type Target = FulcioTarget;

    const THREAD: &'static str = "lab-fulcio";

    fn serve(&self) -> &ServePlan {
        &self.plan.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.plan.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<FulcioTarget, LabError> {
        self.check_lies()?;
        let plan = &self.plan;
        let verifier = TokenVerifier::new(plan.audience.clone(), &self.issuers)
            .map_err(|error| LabError::Plan { key: "issuers".into(), reason: error.to_string() })?
            .of_type(plan.issuer_type);
        let verifier = verifier.looking_up(&plan.issuers).map_err(|place| LabError::Plan {
            key: format!("issuers[{place}]").into(),
            reason: format!("`{}` is no http URL of loopback with a port", plan.issuers[place]),
        })?;
        let ct_log = self.ct_log.as_ref().map(|log| CtLogClient::new(log, Arc::clone(clock))).transpose()?;
        let another = AnotherAuthor {
            authority: authority(plan, "another ", !plan.key_seed, clock.unix_ms())?,
            key: LabSigner::p256("fulcio another key", plan.key_seed)?,
            log: LabSigner::p256("fulcio another log", plan.key_seed)?,
        };
        let (of_bundles, others): (Vec<_>, Vec<_>) =
            plan.lies.iter().cloned().partition(|rule| rule.kind.is_of_bundles());
        let [lies, bundle_lies] = [others, of_bundles].map(|rules| AnswerLies::new(&rules, clock.elapsed()));
        let (clock, sct) = (Arc::clone(clock), plan.sct);
        let authority = self.authority;
        let issuance = Issuance { authority, verifier, ct_log, sct, another, lies, bundle_lies, clock };
        Ok(FulcioTarget::new(issuance))
    }
}

/// The authority of a seed; those of all seeds have the same names.
fn authority(plan: &FulcioLabPlan, which: &str, seed: u64, unix_ms: u64) -> Result<Authority, LabError> {
    let signer = |role: &str| plan.ca_curve.signer(&format!("fulcio {which}{role}"), seed);
    let named = |common_name| name(UTF8_STRING, "hammer-lab", common_name);
    let now = unix_ms / 1000;
    let path_length = u8::from(plan.intermediate);
    let root = Authority::root(signer("root")?, named("hammer-lab Fulcio root"), Some(path_length), now);
    if !plan.intermediate {
        return Ok(root);
    }
    let of = CertifiedUse::Intermediate { usage: CODE_SIGNING, path_length: Some(0) };
    Ok(root.certify(signer("intermediate")?, named("hammer-lab Fulcio intermediate"), of, now))
}
