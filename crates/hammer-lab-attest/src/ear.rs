//! Attestation results (draft-ietf-rats-ear) as signed tokens (RFC 7515).

use std::fmt;

use base64::{
    Engine as _,
    engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD},
};
use bytes::Bytes;
use hammer_lab::{LabError, ThrowawaySigner};
use hammer_tlog::hash::sha256;

use crate::{appraisal::Appraisal, go_json::write_string, plan::Release, token::annotated_evidence};

/// Signs results, honestly or not.
#[derive(Debug)]
pub(crate) struct EarSigner {
    own: ThrowawaySigner,
    another: ThrowawaySigner,
    changed: ThrowawaySigner,
    release: Release,
}

/// Which key signs a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SigningKey {
    /// That of the discovery document.
    Own,
    /// One that nobody knows.
    Another,
    /// That to which the own one was changed.
    Changed,
}

/// A result.
#[derive(Debug)]
pub(crate) struct Ear<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) profile: &'a str,
    /// Seconds since the Unix epoch.
    pub(crate) issued: u64,
    /// The scheme whose evidence it is of.
    pub(crate) scheme: &'a str,
    pub(crate) appraisal: &'a Appraisal,
    /// The instance id in place of that which the evidence has.
    pub(crate) instance: Option<[u8; 33]>,
}

impl EarSigner {
    /// The keys of a seed.
    ///
    /// # Errors
    /// There is no randomness.
    pub(crate) fn new(release: Release, seed: u64) -> Result<Self, LabError> {
        let key = |purpose: &str| {
            let name = format!("hammer-lab-attest {purpose} {seed}");
            let unusable = |error: String| LabError::Plan { key: "key_seed".into(), reason: error };
            ThrowawaySigner::derive(&sha256(name.as_bytes()).0).map_err(unusable)
        };
        let (own, another, changed) = (key("ear-signer")?, key("another")?, key("changed")?);
        Ok(Self { own, another, changed, release })
    }

    /// The public key of the discovery document, uncompressed (SEC 1 section 2.3.3).
    pub(crate) fn public_key(&self) -> &[u8; 65] {
        self.own.public_key()
    }

    /// The token of a result.
    pub(crate) fn sign(&self, ear: &Ear<'_>, key: SigningKey) -> Bytes {
        let claims = ear.claims(self.release);
        let mut token = String::with_capacity(HEADER.len() + claims.len() * 4 / 3 + 96);
        token.push_str(HEADER);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signer = match key {
            SigningKey::Own => &self.own,
            SigningKey::Another => &self.another,
            SigningKey::Changed => &self.changed,
        };
        let signature = signer.sign(&sha256(token.as_bytes()).0).to_fixed();
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        token.into()
    }
}

impl Ear<'_> {
    /// The claims as a JSON object, names in their order.
    fn claims(&self, release: Release) -> String {
        let mut out = String::with_capacity(2048);
        let version = release.version();
        let nonce = URL_SAFE.encode(self.nonce);
        let [profile, scheme] = [self.profile, self.scheme];
        let issued = self.issued;
        let status = self.appraisal.tier().name();
        put(
            &mut out,
            format_args!(
                r#"{{"ear.verifier-id":{{"build":"{version}","developer":"Veraison Project"}},"eat_nonce":"{nonce}","eat_profile":"{profile}","iat":{issued},"submods":{{"{scheme}":{{"ear.appraisal-policy-id":"policy:{scheme}","ear.status":"{status}","ear.trustworthiness-vector":{{"#
            ),
        );
        for (place, (name, claim)) in VECTOR.iter().zip(self.appraisal.vector.0).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            put(&mut out, format_args!(r#"{comma}"{name}":{claim}"#));
        }
        out.push('}');
        if let Some(claims) = &self.appraisal.claims {
            let instance = self.instance.as_ref().unwrap_or(&claims.device.instance);
            out.push_str(r#","ear.veraison.annotated-evidence":"#);
            out.push_str(&annotated_evidence(claims, instance));
        }
        if let Some(problem) = &self.appraisal.problem {
            out.push_str(r#","ear.veraison.policy-claims":{"problem":"#);
            write_string(&mut out, problem);
            out.push('}');
        }
        out.push_str("}}}");
        out
    }
}

fn put(out: &mut String, text: fmt::Arguments<'_>) {
    // A string takes whatever is written to it.
    let _ = fmt::Write::write_fmt(out, text);
}

/// The profile of results.
pub(crate) const EAR_PROFILE: &str = "tag:github.com,2023:veraison/ear";
/// `{"alg":"ES256","typ":"JWT"}`.
const HEADER: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9";
const VECTOR: [&str; 8] = [
    "configuration",
    "executables",
    "file-system",
    "hardware",
    "instance-identity",
    "runtime-opaque",
    "sourced-data",
    "storage-opaque",
];
