//! What a result says, held against the session that it is of and the device that was shown.

use hammer_core::promise::Fault;
use hammer_measure::peer_text;
use hammer_rats::{
    AnnotatedComponent, AnnotatedEvidence, Appraisal, AttestationResult, SignedResult, SoftwareComponent,
    TrustTier,
};

use super::{Judge, MALFORMED};
use crate::device_class::DeviceClass;
use crate::devices::DeviceMaterial;
use crate::record::ResultRecord;
use crate::seen_nonces::SessionPlace;
use crate::session_object::SessionEcho;
use crate::target::DuePolicy;

impl Judge {
    /// Whether a result whose signature holds says what it should.
    pub(super) fn says(
        &self,
        seq: u64,
        record: &ResultRecord<'_>,
        signed: &SignedResult<'_>,
    ) -> Result<(), Fault> {
        let ResultRecord { device, class, .. } = *record;
        let fault = |kind, told: String| Fault::at(kind, device, format!("device {device}: {told}"));
        let result = signed.claims().map_err(|why| fault(MALFORMED, peer_text(&why.to_string())))?;
        let appraisal = appraisal(&result).map_err(|told| fault(MALFORMED, told))?;
        self.results.add(appraisal.status);
        self.is_of_session(record, &result).map_err(|(kind, told)| fault(kind, told))?;
        self.is_of_device(record, appraisal).map_err(|told| fault(ANOTHER_DEVICE, told))?;
        let policy = self.policy.of(class, &result.verifier.build);
        is_expected(class, policy, appraisal).map_err(|(kind, told)| fault(kind, told))?;
        let evidence =
            appraisal.evidence.as_ref().map_or(Ok(()), |evidence| self.repeats_evidence(record, evidence));
        evidence.map_err(|what| {
            fault(
                OF_OTHER_EVIDENCE,
                format!("the evidence in the result has another {what} than what was shown"),
            )
        })?;
        self.is_fresh(seq, record).map_err(|told| fault(REPEATED, told))?;
        repeats(record.echo).map_err(|(kind, told)| fault(kind, told.to_owned()))
    }

    /// Whether no other session had the nonce that verification chose for this one.
    fn is_fresh(&self, seq: u64, record: &ResultRecord<'_>) -> Result<(), String> {
        let place = SessionPlace { workload: self.workload, seq };
        let met = self.nonces.as_ref().and_then(|nonces| nonces.met(record.nonce, place));
        let Some(met) = met else { return Ok(()) };
        let of =
            if met.workload == self.workload { String::new() } else { " of another workload".to_owned() };
        Err(format!(
            "verification gave its session the nonce that it had given the session of operation {}{of}",
            met.seq
        ))
    }

    /// Whether it is written as it should be, for this session, and now.
    fn is_of_session(
        &self,
        record: &ResultRecord<'_>,
        result: &AttestationResult,
    ) -> Result<(), (&'static str, String)> {
        if result.profile != EAR_PROFILE {
            return Err((PROFILE, format!("the result is of the profile `{}`", peer_text(&result.profile))));
        }
        if record.echo == SessionEcho::OpenedWithAnother {
            return Err((NONCE, "the session has another nonce than it was asked for with".to_owned()));
        }
        match result.nonce.as_deref() {
            Some(nonce) if nonce == record.nonce => {}
            Some(_) => return Err((NONCE, "the result has another nonce than its session".to_owned())),
            None => return Err((NONCE, "the result has no nonce".to_owned())),
        }
        let issued_ms = result.issued_unix_seconds.saturating_mul(1000);
        let (earliest, latest) = (self.unix_ms(record.sent), self.unix_ms(record.received));
        // `iat` is of whole seconds, and may be rounded either way.
        let off = match issued_ms {
            early if early < earliest.saturating_sub(self.skew_ms.saturating_add(1000)) => {
                Some((earliest.saturating_sub(early), "before"))
            }
            late if late > latest.saturating_add(self.skew_ms.saturating_add(1000)) => {
                Some((late.saturating_sub(latest), "behind"))
            }
            _ => None,
        };
        if let Some((ms, when)) = off {
            let told = format!("the result says that it was issued {} s {when} its session", ms / 1000);
            return Err((ISSUE_TIME, told));
        }
        self.is_valid_now(result, (earliest, latest)).map_err(|told| (ISSUE_TIME, told.to_owned()))
    }

    /// Whether a reader may rely on it as it is received, where it says when one may.
    fn is_valid_now(
        &self,
        result: &AttestationResult,
        (earliest, latest): (i64, i64),
    ) -> Result<(), &'static str> {
        let ms = |seconds: i64| seconds.saturating_mul(1000);
        let is_over = |expires| ms(expires) < earliest.saturating_sub(self.skew_ms);
        let is_to_come = |starts| ms(starts) > latest.saturating_add(self.skew_ms);
        if result.expires_unix_seconds.is_some_and(is_over) {
            return Err("the result says that it had expired before its session");
        }
        if result.starts_unix_seconds.is_some_and(is_to_come) {
            return Err("the result says that nobody may rely on it yet");
        }
        Ok(())
    }

    /// Whether the claims that it repeats are those of the evidence; else which is another.
    fn repeats_evidence(
        &self,
        record: &ResultRecord<'_>,
        evidence: &AnnotatedEvidence,
    ) -> Result<(), &'static str> {
        let class = record.class;
        let mut shown = DeviceMaterial::default();
        self.devices.write_shown(record.device, class, &mut shown);
        let is_other = |repeated: &Option<Vec<u8>>, shown: &[u8]| {
            repeated.as_deref().is_some_and(|repeated| repeated != shown)
        };
        if is_other(&evidence.implementation_id, &shown.device.implementation_id) {
            return Err("implementation ID");
        }
        if is_other(&evidence.nonce, &class.shown_nonce(record.nonce)) {
            return Err("nonce");
        }
        if evidence.lifecycle.is_some_and(|repeated| repeated != class.lifecycle()) {
            return Err("lifecycle");
        }
        match &evidence.components {
            Some(repeated) if !are_same(repeated, &shown.device.components) => Err("software"),
            _ => Ok(()),
        }
    }

    /// Whether the evidence that it repeats is that of the device.
    fn is_of_device(&self, record: &ResultRecord<'_>, appraisal: &Appraisal) -> Result<(), String> {
        let repeated = appraisal.evidence.as_ref().and_then(|evidence| evidence.instance_id.as_deref());
        let Some(repeated) = repeated else { return Ok(()) };
        match repeated == self.devices.ueid(record.device, record.class) {
            true => Ok(()),
            false => Err("the evidence in the result is that of another device".to_owned()),
        }
    }
}

/// Whether it says of such a device what the policy does.
fn is_expected(
    class: DeviceClass,
    DuePolicy { due, other }: DuePolicy,
    appraisal: &Appraisal,
) -> Result<(), (&'static str, String)> {
    let said = appraisal.status;
    if said == due || said == other {
        return is_consistent(appraisal).map_err(|told| (CONTRADICTION, told));
    }
    let kind = match (said, class) {
        (TrustTier::Affirming, _) => AFFIRMED,
        (_, DeviceClass::Good) => NOT_AFFIRMED,
        _ => STATUS,
    };
    let problem = appraisal.policy.as_ref().and_then(|policy| policy.problem.as_deref());
    let problem = problem.map_or_else(String::new, |problem| format!(" ({})", peer_text(problem)));
    let or_other = if other == due { String::new() } else { format!(" or {}", other.name()) };
    let (said, due, class) = (said.name(), due.name(), class.name());
    Err((kind, format!("{said} where {due}{or_other} is due ({class}){problem}")))
}

/// No status is better than a claim behind it (draft-fv-rats-ear, section 3.2.2).
fn is_consistent(appraisal: &Appraisal) -> Result<(), String> {
    let said = appraisal.status;
    let claims = appraisal.vector.iter().flatten();
    // `none` says nothing of the device.
    let mut worse = claims.filter(|(_, claim)| said != TrustTier::None && tier(**claim) > said);
    worse.next().map_or(Ok(()), |(name, claim)| {
        Err(format!("{}, and its {} is {claim}", said.name(), peer_text(name)))
    })
}

/// Whether components are repeated as they were shown, in any order, as far as they are repeated.
fn are_same(repeated: &[AnnotatedComponent], shown: &[SoftwareComponent]) -> bool {
    let is_of = |repeated: &AnnotatedComponent, shown: &SoftwareComponent| {
        let is_same = |repeated: &Option<Vec<u8>>, shown: &[u8; 32]| {
            repeated.as_deref().is_none_or(|repeated| repeated == shown)
        };
        let is_same_text = |repeated: &Option<String>, shown: &str| {
            repeated.as_deref().is_none_or(|repeated| repeated == shown)
        };
        is_same(&repeated.measurement, &shown.measurement)
            && is_same(&repeated.signer, &shown.signer)
            && is_same_text(&repeated.kind, &shown.kind)
            && is_same_text(&repeated.version, &shown.version)
    };
    repeated.len() == shown.len()
        && repeated.iter().all(|repeated| shown.iter().any(|shown| is_of(repeated, shown)))
        && shown.iter().all(|shown| repeated.iter().any(|repeated| is_of(repeated, shown)))
}

/// Whether a session shows, beside its result, what it is of.
fn repeats(echo: SessionEcho) -> Result<(), (&'static str, &'static str)> {
    match echo {
        SessionEcho::AnotherNonce => Err((NONCE, "the session shows another nonce beside its result")),
        SessionEcho::OtherEvidence => {
            Err((OTHER_EVIDENCE, "the session shows other evidence than it was shown"))
        }
        SessionEcho::AsItWas | SessionEcho::OpenedWithAnother => Ok(()),
    }
}

/// The tier of a claim (draft-ietf-rats-ar4si, section 2.3.2).
const fn tier(claim: i8) -> TrustTier {
    match claim {
        -1..=1 => TrustTier::None,
        2..=31 | -32..=-2 => TrustTier::Affirming,
        32..=95 | -96..=-33 => TrustTier::Warning,
        _ => TrustTier::Contraindicated,
    }
}

/// What is said of the one device of a session.
fn appraisal(result: &AttestationResult) -> Result<&Appraisal, String> {
    let mut appraisals = result.appraisals.iter();
    match (appraisals.next(), appraisals.next()) {
        (Some((scheme, appraisal)), None) if scheme == SCHEME => Ok(appraisal),
        (Some((scheme, _)), None) => Err(format!(
            "the result is of the scheme `{}`, and a device of {SCHEME} was shown",
            peer_text(scheme)
        )),
        _ => Err(format!("the result appraises {} attesters, and one was shown", result.appraisals.len())),
    }
}

/// The scheme of PSA devices, as Veraison calls it.
const SCHEME: &str = "PSA_IOT";
/// The profile of results (draft-fv-rats-ear, section 3) as Veraison writes them.
const EAR_PROFILE: &str = "tag:github.com,2023:veraison/ear";
const PROFILE: &str = "wrong-result-profile";
const NONCE: &str = "wrong-nonce";
const ISSUE_TIME: &str = "wrong-issue-time";
const ANOTHER_DEVICE: &str = "result-of-another-device";
/// The nonce of another session, chosen by verification.
const REPEATED: &str = "repeated-nonce";
/// The device is the right one, and what is said of it was not in its evidence.
const OF_OTHER_EVIDENCE: &str = "result-of-other-evidence";
const OTHER_EVIDENCE: &str = "session-of-other-evidence";
/// A device with which something is wrong is affirmed: the gravest there is.
const AFFIRMED: &str = "affirmed-bad-device";
const NOT_AFFIRMED: &str = "good-device-not-affirmed";
const STATUS: &str = "unexpected-status";
const CONTRADICTION: &str = "contradictory-result";
