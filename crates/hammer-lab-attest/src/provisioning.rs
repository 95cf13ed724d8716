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
use http::HeaderMap;

use crate::{
    accept, auth,
    corim::{self, CorimSigners},
    go_json,
    hex::hex,
    lab_time::LabTime,
    plan::{AttestLabPlan, AttestLieKind, LabUser, Release, ToldAttestLie},
    problem::{Answered, Problem},
    store::{Endorsements, Store, StoreGate},
    taken_types::{TakenTypes, content_type},
};

/// The provisioning service.
#[derive(Debug)]
pub(crate) struct Provisioning {
    release: Release,
    types: TakenTypes,
    signers: CorimSigners,
    users: Vec<LabUser>,
    lies: AnswerLies<AttestLieKind, ToldAttestLie>,
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
            users: plan.users.clone(),
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
        auth::check(&self.users, headers)?;
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

const PROVISIONING_TYPE: &str = "application/vnd.veraison.provisioning-session+json";
/// What the driver of the store's database says where it has no connection left.
const TOO_MANY_CLIENTS: &str = "store operation failed for trust anchor: failed to connect to `user=veraison database=veraison`: server error: FATAL: sorry, too many clients already (SQLSTATE 53300)";
