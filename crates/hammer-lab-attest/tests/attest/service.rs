//! An embedded Veraison that is talked to, and what is read of its results.

use std::time::Duration;

use base64::{
    Engine as _,
    engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD},
};
use bytes::Bytes;
use hammer_lab::{Clock, ManualClock};
use hammer_lab_attest::{AttestLabHandle, AttestLabPlan, Release};
use hammer_tlog::encoding::from_base64;
use p256::ecdsa::{Signature, VerifyingKey, signature::Verifier};
use serde_json::Value;

use crate::{
    client::{Answer, send},
    device::Device,
};

/// A service that runs by a clock of the test's own.
pub(crate) struct Service {
    pub(crate) lab: AttestLabHandle,
    pub(crate) clock: ManualClock,
    release: Release,
}

/// A session that waits for evidence.
pub(crate) struct Challenge {
    pub(crate) url: String,
    pub(crate) nonce: Vec<u8>,
}

/// A result whose signature and nonce may be wrong.
#[derive(Debug)]
pub(crate) struct EarResult {
    pub(crate) claims: Value,
    /// The key of discovery signed it.
    pub(crate) is_signed: bool,
}

pub(crate) const EVIDENCE_TYPE: &str = "application/psa-attestation-token";
pub(crate) const BOTH: [Release; 2] = [Release::V2502, Release::V2608];
/// The second of its day at which a service starts.
const START_OF_DAY_S: u64 = (6 * 60 + 31) * 60 + 48;
/// 2026-11-21T06:31:48Z.
pub(crate) const START_MS: u64 = 1_795_242_708_000;

impl Service {
    pub(crate) async fn start(plan: AttestLabPlan) -> Self {
        let (release, clock) = (plan.release, ManualClock::at_unix_ms(START_MS));
        let spawned = AttestLabHandle::start_with_clock(plan, std::sync::Arc::new(clock.clone()));
        Self { lab: spawned.await.unwrap(), clock, release }
    }

    pub(crate) async fn of(release: Release) -> Self {
        Self::start(AttestLabPlan { release, ..AttestLabPlan::default() }).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.lab.url)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(("GET", &self.url(path)), &[], "").await
    }

    pub(crate) fn corim_type(&self) -> &'static str {
        match self.release {
            Release::V2502 => r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#,
            Release::V2608 => r#"application/rim+cbor; profile="tag:arm.com,2025:psa#1.0.0""#,
        }
    }

    pub(crate) fn corim(&self, device: &Device) -> Vec<u8> {
        match self.release {
            Release::V2502 => device.legacy_corim(),
            Release::V2608 => device.rim_corim(),
        }
    }

    /// Submits a body of this type.
    pub(crate) async fn submit(&self, media_type: &str, body: impl Into<Bytes>) -> Answer {
        let url = self.url("/endorsement-provisioning/v1/submit");
        send(("POST", &url), &[("content-type", media_type)], body).await
    }

    /// Provisions a device; what was answered, once it was taken.
    pub(crate) async fn provision(&self, device: &Device) -> Value {
        self.submit(self.corim_type(), self.corim(device)).await.json(200)
    }

    pub(crate) async fn challenge(&self) -> Challenge {
        let url = self.url("/challenge-response/v1/newSession?nonceSize=32");
        let answer = send(("POST", &url), &[], "").await;
        let nonce = from_base64(answer.json(201)["nonce"].as_str().unwrap()).unwrap();
        let location = answer.header("location").unwrap();
        Challenge { url: self.url(&format!("/challenge-response/v1/{location}")), nonce }
    }

    /// A session with this nonce, in base64 for URLs.
    pub(crate) async fn challenge_of(&self, nonce: &str) -> Challenge {
        let url = self.url(&format!("/challenge-response/v1/newSession?nonce={nonce}"));
        let answer = send(("POST", &url), &[], "").await;
        let location = answer.header("location").unwrap();
        let nonce = URL_SAFE.decode(nonce).unwrap();
        Challenge { url: self.url(&format!("/challenge-response/v1/{location}")), nonce }
    }

    /// Lets it be as late as an answer of the day of its start says: `Sat, 21 Nov 2026 06:31:48 GMT`.
    pub(crate) fn clock_at(&self, date: &str) {
        let time = date.split(' ').nth(4).unwrap();
        let seconds = time.split(':').fold(0, |sum, part| sum * 60 + part.parse::<u64>().unwrap());
        let until = Duration::from_secs(seconds - START_OF_DAY_S);
        self.clock.advance(until.saturating_sub(self.clock.elapsed()));
    }

    /// Answers a challenge, of which nothing is left then.
    pub(crate) async fn evidence(&self, challenge: &Challenge, token: Vec<u8>) -> Answer {
        let answer = send(("POST", &challenge.url), &[("content-type", EVIDENCE_TYPE)], token).await;
        assert_eq!(send(("DELETE", &challenge.url), &[], "").await.status, 204);
        answer
    }

    /// A whole flow, whose token is made of the nonce.
    pub(crate) async fn verify(&self, token: impl FnOnce(&[u8]) -> Vec<u8>) -> (Challenge, EarResult) {
        let challenge = self.challenge().await;
        let token = token(&challenge.nonce);
        let answer = self.evidence(&challenge, token).await.json(200);
        assert_eq!(answer["status"], "complete");
        let result = self.read(answer["result"].as_str().unwrap()).await;
        (challenge, result)
    }

    pub(crate) async fn read(&self, result: &str) -> EarResult {
        let (signed, signature) = result.rsplit_once('.').unwrap();
        let claims = signed.split_once('.').unwrap().1;
        let claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        let is_signed = self.key().await.verify(signed.as_bytes(), &signature).is_ok();
        EarResult { claims, is_signed }
    }

    async fn key(&self) -> VerifyingKey {
        let discovery = self.get("/.well-known/veraison/verification").await.json(200);
        let half = |name: &str| {
            URL_SAFE_NO_PAD.decode(discovery["ear-verification-key"][name].as_str().unwrap()).unwrap()
        };
        VerifyingKey::from_sec1_bytes(&[&[4], half("x").as_slice(), &half("y")].concat()).unwrap()
    }
}

impl EarResult {
    pub(crate) fn submod(&self) -> &Value {
        &self.claims["submods"]["PSA_IOT"]
    }

    pub(crate) fn status(&self) -> &str {
        self.submod()["ear.status"].as_str().unwrap()
    }

    pub(crate) fn nonce(&self) -> Vec<u8> {
        URL_SAFE.decode(self.claims["eat_nonce"].as_str().unwrap()).unwrap()
    }
}
