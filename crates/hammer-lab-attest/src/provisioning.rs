//! CoRIMs from a request to the store.

use std::time::Duration;

use bytes::Bytes;
use hammer_lab::{
    LabError,
    date::rfc3339,
    lie_rule::{AnswerLies, LieRule},
    serve::answer,
};
use hammer_tlog::hash::{Hash, sha256};
use http::{HeaderMap, header::CONTENT_TYPE};

use crate::{
    accept,
    corim::{self, CorimSigners},
    go_json,
    lab_time::LabTime,
    media_type::MediaType,
    plan::{AttestLabPlan, AttestLieKind, Release, ToldAttestLie},
    problem::{Answered, Problem},
    store::{Endorsements, Store, StoreGate},
};

/// The provisioning service.
#[derive(Debug)]
pub(crate) struct Provisioning {
    release: Release,
    types: TakenTypes,
    signers: CorimSigners,
    lies: AnswerLies<AttestLieKind, ToldAttestLie>,
}

/// The media types that a service takes.
#[derive(Debug)]
pub(crate) struct TakenTypes {
    texts: &'static [&'static str],
    parsed: Vec<MediaType>,
    /// The service, as its problems call it.
    service: &'static str,
}

impl TakenTypes {
    pub(crate) fn new(texts: &'static [&'static str], service: &'static str) -> Self {
        let parsed = texts.iter().filter_map(|text| MediaType::parse(text).ok()).collect();
        Self { texts, parsed, service }
    }

    /// The type that is written so, where it is taken.
    ///
    /// # Errors
    /// 400 of what is no media type, and 415 of one that is not taken.
    pub(crate) fn read(&self, text: &str) -> Result<MediaType, Problem> {
        let parsed = MediaType::parse(text).map_err(|error| {
            let service = self.service;
            Problem::bad_request(format!(
                "could not check media type with {service}: invalid input parameter: validation failed for {text} ({error})"
            ))
        })?;
        let is_taken = self.parsed.contains(&parsed);
        is_taken.then_some(parsed).ok_or_else(|| Problem::unsupported(text, self.texts))
    }
}

/// The text of `Content-Type`, empty without one.
pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl Provisioning {
    /// # Errors
    /// Certificates that cannot be read.
    pub(crate) fn new(plan: &AttestLabPlan, now: Duration) -> Result<Self, LabError> {
        let of_corims = |rule: &&LieRule<AttestLieKind>| rule.kind.is_of_corims();
        let rules: Vec<_> = plan.lies.iter().filter(of_corims).cloned().collect();
        Ok(Self {
            release: plan.release,
            types: TakenTypes::new(plan.release.corim_types(), "provisioner"),
            signers: CorimSigners::read(&plan.ca_certs)?,
            lies: AnswerLies::new(&rules, now),
        })
    }

    pub(crate) fn lies(&self) -> &AnswerLies<AttestLieKind, ToldAttestLie> {
        &self.lies
    }

    /// Takes a CoRIM.
    pub(crate) async fn submit(
        &self,
        headers: &HeaderMap,
        body: &Bytes,
        (store, gate, time): (&Store, &StoreGate, &LabTime),
    ) -> Answered {
        accept::check(headers, &[PROVISIONING_TYPE])?;
        let media_type = self.types.read(content_type(headers))?;
        if body.is_empty() {
            return Err(Problem::bad_request("empty body"));
        }
        let seconds = time.unix().as_secs();
        let read = corim::endorsements(self.release, &media_type, body, (&self.signers, seconds));
        let stored = match read {
            Err(fault) => Err(fault.to_string()),
            Ok(endorsements) => match gate.write(time.clock()).await {
                Err(_) => Err(TOO_MANY_CLIENTS.to_owned()),
                Ok(()) => self.store(store, body, endorsements, time.elapsed()),
            },
        };
        let expiry = rfc3339(seconds);
        let answer = match stored {
            Ok(()) => format!(r#"{{"status":"success","expiry":"{expiry}"}}"#),
            Err(reason) => {
                let reason = go_json::string(&format!(
                    "submit endorsement returned error: submit endorsements failed: {reason}"
                ));
                format!(r#"{{"status":"failed","expiry":"{expiry}","failure-reason":{reason}}}"#)
            }
        };
        Ok(answer::ok(PROVISIONING_TYPE, answer))
    }

    fn store(
        &self,
        store: &Store,
        body: &Bytes,
        endorsements: Endorsements,
        now: Duration,
    ) -> Result<(), String> {
        if let Some(kind) = self.lies.next(now) {
            let instance = endorsements.trust_anchors.first().map(|anchor| hex(&anchor.device.instance));
            self.lies.tell(ToldAttestLie { kind, session: None, nonce: None, instance_id: instance });
            return Ok(());
        }
        match self.release {
            Release::V2502 => store.add(endorsements),
            Release::V2608 => {
                let Hash(digest) = sha256(body);
                if !store.add_once(&digest, endorsements) {
                    return Err("token already in store".to_owned());
                }
            }
        }
        Ok(())
    }
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const PROVISIONING_TYPE: &str = "application/vnd.veraison.provisioning-session+json";
/// What the driver of the store's database says where it has no connection left.
const TOO_MANY_CLIENTS: &str = "store operation failed for trust anchor: failed to connect to `user=veraison database=veraison`: server error: FATAL: sorry, too many clients already (SQLSTATE 53300)";
