//! Evidence from a request to its result.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::{
    LabError,
    lie_rule::{AnswerLies, LieRule},
};
use hammer_tlog::encoding::base64;

use crate::{
    appraisal::{Appraisal, BAD_SIGNATURE, Tier, TrustVector, appraise, unsound},
    ear::{EAR_PROFILE, Ear, EarSigner, SigningKey},
    hex::hex,
    media_type::MediaType,
    plan::{AttestLabPlan, AttestLieKind, Release, ToldAttestLie},
    problem::Problem,
    session::{Appraised, SessionId},
    store::Store,
    taken_types::TakenTypes,
};

/// The verification service, but for its sessions.
#[derive(Debug)]
pub(crate) struct Verification {
    release: Release,
    types: TakenTypes,
    signer: EarSigner,
    lies: AnswerLies<AttestLieKind, ToldAttestLie>,
    /// The key was changed.
    is_changed: AtomicBool,
}

/// Evidence as it came.
#[derive(Debug)]
pub(crate) struct SentEvidence<'a> {
    pub(crate) session: SessionId,
    pub(crate) nonce: &'a [u8],
    /// As it was written, and as it is understood.
    pub(crate) media_type: (&'a str, &'a MediaType),
    pub(crate) token: &'a Bytes,
}

/// The services broke down over evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AppraisalFailed;

impl From<AppraisalFailed> for Problem {
    fn from(AppraisalFailed: AppraisalFailed) -> Self {
        Self::internal("error encountered while processing evidence")
    }
}

impl Verification {
    /// # Errors
    /// There is no randomness for its keys.
    pub(crate) fn new(plan: &AttestLabPlan, now: Duration) -> Result<Self, LabError> {
        let of_results = |rule: &&LieRule<AttestLieKind>| !rule.kind.is_of_corims();
        let rules: Vec<_> = plan.lies.iter().filter(of_results).cloned().collect();
        Ok(Self {
            release: plan.release,
            types: TakenTypes::new(plan.release.evidence_types(), "verifier"),
            signer: EarSigner::new(plan.release, plan.key_seed)?,
            lies: AnswerLies::new(&rules, now),
            is_changed: AtomicBool::new(false),
        })
    }

    pub(crate) fn signer(&self) -> &EarSigner {
        &self.signer
    }

    pub(crate) fn types(&self) -> &TakenTypes {
        &self.types
    }

    pub(crate) fn lies(&self) -> &AnswerLies<AttestLieKind, ToldAttestLie> {
        &self.lies
    }

    /// Appraises evidence by what is stored, and makes its result, honest or not; `now` is the clock's time, `unix` that of the result.
    ///
    /// # Errors
    /// The store holds what nobody can appraise by.
    pub(crate) fn result(
        &self,
        store: &Store,
        sent: &SentEvidence<'_>,
        (now, unix): (Duration, Duration),
    ) -> Result<Appraised, AppraisalFailed> {
        let (text, media_type) = sent.media_type;
        let scheme = scheme(media_type);
        let appraisal = match scheme {
            PSA => appraise(self.release, store, sent.token, sent.nonce).map_err(|_| AppraisalFailed)?,
            _ => Appraisal::of_nobody(),
        };
        let kind = self.lie(&appraisal, now);
        let (appraisal, mut told) = match kind {
            None => (appraisal, None),
            Some(kind) => {
                let claims = appraisal.claims.as_ref();
                let told = ToldAttestLie {
                    kind,
                    session: Some(sent.session.to_string()),
                    nonce: Some(base64(sent.nonce)),
                    instance_id: claims.map(|claims| hex(&claims.device.instance)),
                };
                (self.altered(kind, appraisal), Some(told))
            }
        };
        let result = self.sign(kind, &appraisal, sent.nonce, (scheme, unix));
        if let Some(told) = told.take() {
            self.lies.tell(told);
        }
        let (evidence, shown_nonce) = match kind {
            Some(AttestLieKind::ShownEvidence) => (altered(sent.token).into(), None),
            Some(AttestLieKind::ShownNonce) => (sent.token.clone(), Some(altered(sent.nonce).into())),
            _ => (sent.token.clone(), None),
        };
        let media_type = Bytes::copy_from_slice(text.as_bytes());
        Ok(Appraised { media_type, evidence, shown_nonce, result })
    }

    /// Whether a session that is opened now without a nonce of its own is given that of the one before it.
    pub(crate) fn repeats_nonce(&self, now: Duration) -> bool {
        self.lies.next_of(now, AttestLieKind::is_of_openings).is_some()
    }

    /// The lie that the next result has.
    fn lie(&self, appraisal: &Appraisal, now: Duration) -> Option<AttestLieKind> {
        let is_affirmed = appraisal.tier() == Tier::Affirming;
        let can_be_told = |kind| match kind {
            AttestLieKind::AffirmingBad => !is_affirmed,
            AttestLieKind::ContraindicatedGood => is_affirmed,
            AttestLieKind::AnotherDevice => appraisal.claims.is_some(),
            _ => !kind.is_of_openings(),
        };
        let kind = self.lies.next_of(now, can_be_told);
        if kind == Some(AttestLieKind::ChangedKey) {
            self.is_changed.store(true, Ordering::Relaxed);
        }
        kind.or_else(|| self.is_changed.load(Ordering::Relaxed).then_some(AttestLieKind::ChangedKey))
    }

    /// What is said in place of an appraisal.
    fn altered(&self, kind: AttestLieKind, appraisal: Appraisal) -> Appraisal {
        match kind {
            AttestLieKind::AffirmingBad => {
                Appraisal { vector: TrustVector::AFFIRMED, problem: None, ..appraisal }
            }
            AttestLieKind::ContraindicatedGood => unsound(self.release, BAD_SIGNATURE),
            _ => appraisal,
        }
    }

    fn sign(
        &self,
        kind: Option<AttestLieKind>,
        appraisal: &Appraisal,
        nonce: &[u8],
        (scheme, unix): (&str, Duration),
    ) -> Bytes {
        let mut ear =
            Ear { nonce, profile: EAR_PROFILE, issued: unix.as_secs(), scheme, appraisal, instance: None };
        let another_nonce = altered(nonce);
        let mut key = SigningKey::Own;
        match kind {
            Some(AttestLieKind::WrongNonce) => ear.nonce = &another_nonce,
            Some(AttestLieKind::AnotherKey) => key = SigningKey::Another,
            Some(AttestLieKind::ChangedKey) => key = SigningKey::Changed,
            Some(AttestLieKind::PastResult) => ear.issued = ear.issued.saturating_sub(AN_HOUR_S),
            Some(AttestLieKind::AnotherProfile) => ear.profile = ANOTHER_PROFILE,
            Some(AttestLieKind::AnotherDevice) => {
                ear.instance = appraisal.claims.as_ref().map(|claims| {
                    let mut instance = claims.device.instance;
                    // The first byte is the type of the id.
                    instance[1..].iter_mut().for_each(|byte| *byte = !*byte);
                    instance
                });
            }
            Some(
                AttestLieKind::AffirmingBad
                | AttestLieKind::ContraindicatedGood
                | AttestLieKind::LostDevice
                | AttestLieKind::RepeatedNonce
                | AttestLieKind::ShownNonce
                | AttestLieKind::ShownEvidence,
            )
            | None => {}
        }
        self.signer.sign(&ear, key)
    }
}

/// Bytes of which the last is another.
fn altered(bytes: &[u8]) -> Vec<u8> {
    let mut altered = bytes.to_vec();
    if let Some(last) = altered.last_mut() {
        *last ^= 1;
    }
    altered
}

/// The scheme whose evidence has this media type.
fn scheme(media_type: &MediaType) -> &'static str {
    match media_type.essence() {
        "application/vnd.parallaxsecond.key-attestation.cca" => "PARSEC_CCA",
        "application/vnd.parallaxsecond.key-attestation.tpm" => "PARSEC_TPM",
        "application/pem-certificate-chain" => "riot",
        "application/vnd.enacttrust.tpm-evidence" => "TPM_ENACTTRUST",
        "application/eat-collection" => "ARM_CCA",
        "application/vnd.veraison.tsm-report+cbor" | "application/vnd.veraison.tsm-report+json" => "SEV-SNP",
        "application/eat+cwt" if media_type.parameter("eat_profile") == Some(RATSD) => "SEV-SNP",
        _ => PSA,
    }
}

const PSA: &str = "PSA_IOT";
const RATSD: &str = "tag:github.com,2025:veraison/ratsd/cmw";
const ANOTHER_PROFILE: &str = "tag:github.com,2022:veraison/ear";
const AN_HOUR_S: u64 = 3600;
