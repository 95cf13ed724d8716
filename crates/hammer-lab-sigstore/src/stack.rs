//! All services of one instance of Sigstore, embedded together: each trusts the others as in production.

use bytes::Bytes;
use hammer_lab::clock::{Clock as _, SystemClock};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLabHandle, CtLabPlan, LabError, LogConfig};
use hammer_tlog::encoding::base64;
use hammer_tlog::hash::{Hash, sha256};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fulcio::{CtLogForFulcio, FulcioConfig, FulcioLabHandle, FulcioLabPlan};
use crate::provider::{ProviderConfig, ProviderLabHandle, ProviderLabPlan};
use crate::rekor::{RekorLabHandle, RekorLabPlan};
use crate::rekor_tiles::{RekorTilesLabHandle, RekorTilesLabPlan};
use crate::token::TrustedIssuer;
use crate::tsa::{TsaLabHandle, TsaLabPlan};
use crate::tuf::{TufConfig, TufLabHandle, TufLabPlan};

/// An instance of Sigstore in a plan file; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SigstoreLabPlan {
    /// What the tokens of the run are signed with, which Fulcio trusts.
    pub token_signature: TokenSignature,
    /// Fulcio.
    pub fulcio: FulcioLabPlan,
    /// Whether Fulcio's certificates carry an SCT.
    pub has_ct_log: bool,
    /// The CT log behind Fulcio, which accepts its root.
    pub ct_log: CtLabPlan,
    /// Rekor v1.
    pub rekor: RekorLabPlan,
    /// Rekor v2.
    pub rekor_tiles: RekorTilesLabPlan,
    /// The timestamp authority.
    pub timestamp_authority: TsaLabPlan,
    /// The TUF repository that says whom to trust.
    pub tuf: TufLabPlan,
    /// The OpenID provider that grants tokens, which Fulcio believes as well.
    pub issuer: ProviderLabPlan,
}

/// What a token is signed with (RFC 7518 section 3.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenSignature {
    /// ECDSA over P-256 with SHA-256.
    #[default]
    Es256,
    /// RSA PKCS #1 v1.5 with SHA-256.
    Rs256,
}

/// An instance of Sigstore that runs. Dropping it stops it.
#[derive(Debug)]
pub struct SigstoreLab {
    /// Fulcio, over REST and gRPC.
    pub fulcio: FulcioLabHandle,
    /// The CT log behind it.
    pub ct_log: Option<CtLabHandle>,
    /// Rekor v1.
    pub rekor: RekorLabHandle,
    /// Rekor v2, over REST and gRPC, and its log.
    pub rekor_tiles: RekorTilesLabHandle,
    /// The timestamp authority.
    pub timestamp_authority: TsaLabHandle,
    /// The TUF repository, whose targets are `trusted_root.json` and `signing_config.v0.2.json`.
    pub tuf: TufLabHandle,
    /// The OpenID provider, whose keys Fulcio looks up.
    pub issuer: ProviderLabHandle,
    trusted_root: String,
    signing_config: String,
}

impl Default for SigstoreLabPlan {
    fn default() -> Self {
        Self {
            token_signature: TokenSignature::default(),
            fulcio: FulcioLabPlan::default(),
            has_ct_log: true,
            // As ct_server, which answers at once.
            ct_log: CtLabPlan { flavour: Flavour::Rfc6962, ..CtLabPlan::default() },
            rekor: RekorLabPlan::default(),
            rekor_tiles: RekorTilesLabPlan::default(),
            timestamp_authority: TsaLabPlan::default(),
            tuf: TufLabPlan::default(),
            issuer: ProviderLabPlan::default(),
        }
    }
}

impl SigstoreLab {
    /// Starts all services; Fulcio takes the tokens of `issuers`.
    ///
    /// # Errors
    /// A plan without meaning, or an address that is taken; the key is that of the whole plan.
    pub fn spawn(plan: SigstoreLabPlan, issuers: Vec<TrustedIssuer>) -> Result<Self, LabError> {
        let issuer = ProviderConfig { plan: plan.issuer, audience: plan.fulcio.audience.clone() };
        let issuer = ProviderLabHandle::spawn(issuer).map_err(|error| error.below("issuer"))?;
        let mut fulcio = FulcioConfig::from_plan(plan.fulcio, SystemClock::new().unix_ms())?;
        fulcio.issuers = issuers;
        fulcio.look_up(issuer.url.clone());
        let ct_log = match plan.has_ct_log {
            true => Some(ct_log(plan.ct_log, fulcio.authority().root_certificate())?),
            false => None,
        };
        fulcio.ct_log = ct_log.as_ref().map(|log| CtLogForFulcio { url: log.url.clone() });
        let fulcio = FulcioLabHandle::spawn(fulcio).map_err(|error| error.below("fulcio"))?;
        let rekor = RekorLabHandle::spawn(plan.rekor).map_err(|error| error.below("rekor"))?;
        let rekor_tiles = RekorTilesLabHandle::spawn(plan.rekor_tiles);
        let rekor_tiles = rekor_tiles.map_err(|error| error.below("rekor_tiles"))?;
        let timestamp_authority = TsaLabHandle::spawn(plan.timestamp_authority);
        let timestamp_authority = timestamp_authority.map_err(|error| error.below("timestamp_authority"))?;
        let trusted_root = trusted_root(&fulcio, ct_log.as_ref(), &rekor, &rekor_tiles, &timestamp_authority);
        let signing_config = signing_config(&fulcio, &rekor, &rekor_tiles, &timestamp_authority);
        let targets = [("trusted_root.json", &trusted_root), ("signing_config.v0.2.json", &signing_config)];
        let targets = targets.map(|(name, text)| (name.to_owned(), Bytes::from(text.clone())));
        let tuf = TufLabHandle::spawn(TufConfig { plan: plan.tuf, targets: targets.into() });
        let tuf = tuf.map_err(|error| error.below("tuf"))?;
        Ok(Self {
            fulcio,
            ct_log,
            rekor,
            rekor_tiles,
            timestamp_authority,
            tuf,
            issuer,
            trusted_root,
            signing_config,
        })
    }

    /// What clients of the instance trust: `trusted_root.json` in version 0.1 (sigstore/protobuf-specs, `sigstore_trustroot.proto`).
    #[must_use]
    pub fn trusted_root(&self) -> &str {
        &self.trusted_root
    }

    /// Where clients of the instance sign: `signing_config.json` in version 0.2 (the same).
    #[must_use]
    pub fn signing_config(&self) -> &str {
        &self.signing_config
    }
}

fn trusted_root(
    fulcio: &FulcioLabHandle,
    ct_log: Option<&CtLabHandle>,
    rekor: &RekorLabHandle,
    rekor_tiles: &RekorTilesLabHandle,
    timestamp_authority: &TsaLabHandle,
) -> String {
    let log = |url: &str, spki: &[u8], id: Hash| {
        let (details, id) = (key_details(spki), base64(&id.0));
        let key =
            json!({ "rawBytes": base64(spki), "keyDetails": details, "validFor": { "start": LONG_AGO } });
        json!({ "baseUrl": url, "hashAlgorithm": "SHA2_256", "publicKey": key, "logId": { "keyId": id } })
    };
    let authority = |url: &str, chain: &[Vec<u8>]| {
        let certificates: Vec<Value> = chain.iter().map(|der| json!({ "rawBytes": base64(der) })).collect();
        json!({ "uri": url, "certChain": { "certificates": certificates }, "validFor": { "start": LONG_AGO } })
    };
    // By the hash of its key a log is named in SCTs and by Rekor v1; a log on tiles by that of its checkpoints' signer.
    let by_key = |url: &str, spki: &[u8]| log(url, spki, sha256(spki));
    let ct_log = ct_log.map(|ct_log| by_key(&ct_log.url, ct_log.log_key_spki()));
    let tiles = rekor_tiles.target();
    json!({
        "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
        "tlogs": [
            by_key(&rekor.url, rekor.target().log_key_spki()),
            log(&rekor_tiles.url, tiles.log_key_spki(), tiles.log_id()),
        ],
        "certificateAuthorities": [authority(&fulcio.url, fulcio.target().authority().chain())],
        "ctlogs": ct_log.into_iter().collect::<Vec<_>>(),
        "timestampAuthorities":
            [authority(&timestamp_authority.url, timestamp_authority.target().authority().chain())],
    })
    .to_string()
}

fn signing_config(
    fulcio: &FulcioLabHandle,
    rekor: &RekorLabHandle,
    rekor_tiles: &RekorTilesLabHandle,
    timestamp_authority: &TsaLabHandle,
) -> String {
    let service = |url: &str, version: u32| json!({ "url": url, "majorApiVersion": version, "validFor": { "start": LONG_AGO }, "operator": "hammer" });
    let timestamps = format!("{}/api/v1/timestamp", timestamp_authority.url);
    json!({
        "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
        "caUrls": [service(&fulcio.url, 1)],
        "rekorTlogUrls": [service(&rekor_tiles.url, 2), service(&rekor.url, 1)],
        "rekorTlogConfig": { "selector": "ANY" },
        "tsaUrls": [service(&timestamps, 1)],
        "tsaConfig": { "selector": "ANY" },
    })
    .to_string()
}

fn ct_log(plan: CtLabPlan, root: &[u8]) -> Result<CtLabHandle, LabError> {
    let below = |error: LabError| error.below("ct_log");
    let mut config = LogConfig::from_plan(plan).map_err(below)?;
    config.add_root_der(root);
    CtLabHandle::spawn(config).map_err(below)
}

/// What clients in Go need to be told of a key that they could read: the logs sign with P-256 or with Ed25519.
fn key_details(spki: &[u8]) -> &'static str {
    if spki.len() == ED25519_SPKI { "PKIX_ED25519" } else { "PKIX_ECDSA_P256_SHA_256" }
}

/// Bytes of the DER (RFC 8410 section 4).
const ED25519_SPKI: usize = 44;
const LONG_AGO: &str = "2020-01-01T00:00:00Z";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_survives_its_own_text_and_unknown_keys_are_refused() {
        let text = serde_json::to_string(&SigstoreLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<SigstoreLabPlan>(&text).unwrap(), SigstoreLabPlan::default());
        assert!(serde_json::from_str::<SigstoreLabPlan>(r#"{"rekor1":{}}"#).is_err());
    }
}
