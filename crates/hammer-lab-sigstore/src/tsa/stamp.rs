//! From a request to a timestamp, honest or not.

use std::{sync::Arc, time::Duration};

use hammer_lab::{
    LabError,
    clock::Clock,
    lie_rule::{AnswerLies, LieRecord},
};
use ring::rand::{SecureRandom, SystemRandom};

use super::{
    plan::{TsaLabPlan, TsaLieKind},
    request::{GENERIC, POLICY, RequestRefusal},
};
use hammer_lab_authority::timestamp::{Stamp, TokenSigner};
use hammer_lab_authority::timestamp_query::StampRequest;
use hammer_lab_authority::{
    Authority, CertifiedUse,
    certificate::{TIME_STAMPING, name},
    der::PRINTABLE_STRING,
    hex,
};

/// What timestamps are made by.
#[derive(Debug)]
pub(super) struct Stamper {
    signer: TokenSigner,
    /// The same names under another root.
    untrusted: TokenSigner,
    lies: AnswerLies<TsaLieKind>,
    /// About the chain that is served.
    chain_lies: AnswerLies<TsaLieKind>,
    random: SystemRandom,
    clock: Arc<dyn Clock>,
}

impl Stamper {
    /// # Errors
    /// There is no randomness for the keys.
    pub(super) fn new(plan: &TsaLabPlan, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let signer = |which, seed| {
            let leaf = leaf(plan, which, seed, clock.unix_ms() / 1000)?;
            TokenSigner::new(leaf, plan.include_chain_in_response)
                .map_err(|error| LabError::Plan { key: "curve".into(), reason: error.to_string() })
        };
        let (signer, untrusted) = (signer("", plan.key_seed)?, signer("untrusted ", !plan.key_seed)?);
        let (of_chains, others): (Vec<_>, Vec<_>) =
            plan.lies.iter().cloned().partition(|rule| rule.kind.is_of_chains());
        let [lies, chain_lies] = [others, of_chains].map(|rules| AnswerLies::new(&rules, clock.elapsed()));
        Ok(Self { signer, untrusted, lies, chain_lies, random: SystemRandom::new(), clock })
    }

    /// The leaf that signs timestamps, and its issuers.
    pub(super) fn authority(&self) -> &Authority {
        self.signer.authority()
    }

    pub(super) fn restart(&self, now: Duration) {
        self.lies.restart(now);
        self.chain_lies.restart(now);
    }

    pub(super) fn told_lies(&self) -> (Vec<LieRecord<TsaLieKind>>, u64) {
        let ((mut told, unlisted), (of_chains, of_chains_unlisted)) =
            (self.lies.told(), self.chain_lies.told());
        told.extend(of_chains);
        (told, unlisted + of_chains_unlisted)
    }

    /// Whose chain is served now: this authority's own, unless that is lied about.
    pub(super) fn served_chain(&self) -> &Authority {
        let Some(kind) = self.chain_lies.next(self.clock.elapsed()) else { return self.authority() };
        self.chain_lies.tell(LieRecord { kind, subject: "certchain".to_owned(), serial: String::new() });
        self.untrusted.authority()
    }

    /// The DER of a `TimeStampResp` with the current time.
    pub(super) fn stamp(&self, request: &StampRequest) -> Result<Vec<u8>, RequestRefusal> {
        let mut serial = [0; 20];
        self.random.fill(&mut serial).map_err(|_| GENERIC)?;
        let StampRequest { hash, imprint, nonce, certificates } = request;
        let time = self.clock.unix_ms() / 1000;
        let honest =
            Stamp { policy: POLICY, hash: *hash, imprint, serial: &serial, time, nonce: nonce.as_deref() };
        let Some(kind) = self.lies.next(self.clock.elapsed()) else {
            return Ok(self.signer.respond(&honest, *certificates, |signature| signature));
        };
        let response = self.lie(kind, honest, *certificates);
        self.lies.tell(LieRecord { kind, subject: hex(imprint), serial: hex(&serial) });
        Ok(response)
    }

    fn lie(&self, kind: TsaLieKind, honest: Stamp<'_>, certificates: bool) -> Vec<u8> {
        let unaltered = |signature| signature;
        match kind {
            TsaLieKind::TimestampOverAnotherImprint => {
                let imprint: Vec<u8> = honest.imprint.iter().map(|byte| !byte).collect();
                self.signer.respond(&Stamp { imprint: &imprint, ..honest }, certificates, unaltered)
            }
            TsaLieKind::TimestampWithAnotherNonce => {
                let mut nonce = honest.nonce.map_or_else(|| vec![1, 0], <[u8]>::to_vec);
                if let Some(last) = nonce.last_mut() {
                    *last ^= 1;
                }
                self.signer.respond(&Stamp { nonce: Some(&nonce), ..honest }, certificates, unaltered)
            }
            TsaLieKind::TimestampByAnUntrustedChain => {
                self.untrusted.respond(&honest, certificates, unaltered)
            }
            TsaLieKind::BadTimestampSignature => {
                self.signer.respond(&honest, certificates, with_last_bit_flipped)
            }
            TsaLieKind::TimestampInThePast => {
                let time = honest.time.saturating_sub(AN_HOUR);
                self.signer.respond(&Stamp { time, ..honest }, certificates, unaltered)
            }
            // It is told of other answers.
            TsaLieKind::AnotherChain => self.signer.respond(&honest, certificates, unaltered),
        }
    }
}

fn with_last_bit_flipped(mut signature: Vec<u8>) -> Vec<u8> {
    if let Some(last) = signature.last_mut() {
        *last ^= 1;
    }
    signature
}

/// The leaf of a seed below an intermediate and a root; those of all seeds have the same names.
fn leaf(plan: &TsaLabPlan, which: &str, seed: u64, now: u64) -> Result<Authority, LabError> {
    let signer = |role: &str| plan.curve.signer(&format!("tsa {which}{role}"), seed);
    let named = |common_name| name(PRINTABLE_STRING, "hammer-lab", common_name);
    let root = Authority::root(signer("root")?, named("hammer-lab TSA root"), None, now);
    let of = CertifiedUse::Intermediate { usage: TIME_STAMPING, path_length: None };
    let intermediate = root.certify(signer("intermediate")?, named("hammer-lab TSA intermediate"), of, now);
    let signing = (signer("leaf")?, named("hammer-lab TSA timestamping"));
    Ok(intermediate.certify(signing.0, signing.1, CertifiedUse::TimeStamping, now))
}

const AN_HOUR: u64 = 3600;
