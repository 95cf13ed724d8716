//! A signer with an identity token and a key, and the Fulcio that it asks.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hammer_lab::ManualClock;
use hammer_lab_authority::LabSigner;
use hammer_lab_sigstore::{
    FulcioConfig, FulcioLabHandle, FulcioLabPlan, TrustedIssuer, fulcio::CtLogForFulcio,
};
use hammer_tlog::encoding::base64;
use http::Request;
use http_body_util::Full;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};

use crate::client::{Answer, request, send};

/// When every test happens.
pub(crate) const NOW: u64 = 1_795_243_690;

/// A clock that stands at [`NOW`].
pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_unix_ms(NOW * 1000))
}

/// A Fulcio of this plan that trusts the issuer of [`Signer`].
pub(crate) async fn fulcio(plan: FulcioLabPlan, ct_log: Option<CtLogForFulcio>) -> FulcioLabHandle {
    let mut config = FulcioConfig::from_plan(plan, NOW * 1000).unwrap();
    config.issuers = vec![issuer()];
    config.ct_log = ct_log;
    FulcioLabHandle::start_with_clock(config, clock()).await.unwrap()
}

/// The issuer whose tokens the tests make.
pub(crate) fn issuer() -> TrustedIssuer {
    TrustedIssuer { issuer: "http://issuer.test".into(), jwks: jwks(&[7]).into() }
}

/// The public keys of these seeds, each by the name of its seed but for the first test issuer's.
pub(crate) fn jwks(seeds: &[u8]) -> String {
    let key = |seed: &u8| {
        let pair = key_of(*seed);
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        format!(r#"{{"kty":"EC","crv":"P-256","kid":"k{seed}","x":"{x}","y":"{y}"}}"#)
    };
    format!(r#"{{"keys":[{}]}}"#, seeds.iter().map(key).collect::<Vec<_>>().join(","))
}

/// The token of this address until `expires`.
pub(crate) fn token(email: &str, expires: u64) -> String {
    signed(r#"{"alg":"ES256"}"#, "http://issuer.test", (email, expires), 7)
}

/// The token of an issuer by the key of that seed, which it names.
pub(crate) fn token_by(issuer: &str, email: &str, seed: u8) -> String {
    signed(&format!(r#"{{"alg":"ES256","kid":"k{seed}"}}"#), issuer, (email, NOW + 60), seed)
}

fn signed(header: &str, issuer: &str, (email, expires): (&str, u64), seed: u8) -> String {
    let claims = format!(
        r#"{{"iss":"{issuer}","sub":"someone","aud":"sigstore","exp":{expires},"email":"{email}","email_verified":true}}"#
    );
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = key_of(seed).sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

fn key_of(seed: u8) -> EcdsaKeyPair {
    let secret = p256::SecretKey::from_slice(&[seed; 32]).unwrap();
    let public = p256::elliptic_curve::sec1::ToSec1Point::to_sec1_point(&secret.public_key(), false);
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let random = SystemRandom::new();
    EcdsaKeyPair::from_private_key_and_public_key(algorithm, &secret.to_bytes(), public.as_bytes(), &random)
        .unwrap()
}

/// Somebody who asks for a certificate.
pub(crate) struct Signer {
    pub(crate) email: &'static str,
    pub(crate) key: LabSigner,
}

impl Signer {
    pub(crate) fn new() -> Self {
        Self { email: "jane@example.com", key: LabSigner::p256("signer", 7).unwrap() }
    }

    pub(crate) fn token(&self) -> String {
        token(self.email, NOW + 60)
    }

    pub(crate) fn proof(&self) -> Vec<u8> {
        self.key.sign(self.email.as_bytes())
    }

    /// The body of a request to v1.
    pub(crate) fn body(&self, proof: &[u8]) -> String {
        let (key, proof) = (base64(self.key.spki()), base64(proof));
        format!(r#"{{"publicKey":{{"algorithm":"ecdsa","content":"{key}"}},"signedEmailAddress":"{proof}"}}"#)
    }

    /// A request to v1.
    pub(crate) fn request(&self, url: &str) -> Request<Full<bytes::Bytes>> {
        v1_request(url, &self.token(), self.body(&self.proof()))
    }

    /// The answer of v1.
    pub(crate) async fn ask(&self, fulcio: &FulcioLabHandle) -> Answer {
        send(self.request(&fulcio.url)).await
    }
}

/// A request to v1 with this token and body.
pub(crate) fn v1_request(
    url: &str,
    token: &str,
    body: impl Into<bytes::Bytes>,
) -> Request<Full<bytes::Bytes>> {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    request("POST", &format!("{url}/api/v1/signingCert"), &headers, body)
}
