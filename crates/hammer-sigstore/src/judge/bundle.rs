//! Whether a bundle holds: signature, certificate, what logs know of them, and when that was; by the same judges as what is answered in
//! flows.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_cms::ber;
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampVerifier};
use hammer_core::promise::Fault;
use hammer_messages::bundle::HashOutput;
use hammer_messages::rekor::TransparencyLogEntry;
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::digest::DigestAlgorithm;
use hammer_tlog::keys::key::{KeyAlgorithm, KeyError, LogKey};
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::note::Verifier;

use super::artifact::check_signature;
use super::certificate::{
    believed_within, check_identity, check_issuer, check_path, check_scts, check_usage, has_scts,
    identity_of, issuers_of,
};
use super::entry::{
    BODY, BelievedCheckpoint, BelievedNote, LOG_ID, LogTrust, judge_place, judge_tiles_place, log_named,
    under_another_origin,
};
use super::malformed::{fault_of_timestamp, is_unverified, malformed, unread_entry, unread_key, unread_log};
use super::shards::ShardOffsets;
use super::signatures::SIGNATURE;
use crate::bundle::{BundleContent, BundleSigner, SignedBundle};
use crate::envelope;
use crate::logged::{LoggedKind, LoggedSignature, LoggedSigner, digest_named};
use crate::rekor::LogEntry;
use crate::trust::{Trust, TrustedRoot};

/// Verifies bundles offline, by what is trusted.
#[derive(Debug)]
pub struct BundleVerifier {
    trust: Arc<Trust>,
    /// Whoever signs checkpoints of logs on tiles.
    tiles: Vec<Verifier>,
    timestamps: Option<TimestampVerifier>,
}

/// What a bundle has to be of. What is not stated is not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExpectedBundle<'a> {
    /// What was signed, or of what a statement that was signed says the hash.
    pub artifact: Option<&'a [u8]>,
    /// Whom the certificate has to name.
    pub identity: Option<&'a str>,
    /// Whose token that has to be known from.
    pub issuer: Option<&'a str>,
    /// The key that signed: that of a bundle without a certificate, which is not verified without it, and of its certificate where it has one.
    pub key: Option<&'a LogKey>,
    /// The SCT of its certificate, where that does not hold it: a bundle has no place for one.
    pub detached_sct: Option<&'a Sct>,
}

/// A bundle that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedBundle {
    /// The kind and version of its first entry: `hashedrekord 0.0.2`.
    pub entry: String,
    /// The index of that entry.
    pub log_index: i64,
    /// Whom the certificate names; none where there is none.
    pub identity: Option<String>,
    /// Whose token that is known from; none where the certificate does not say so.
    pub issuer: Option<String>,
    /// When it was signed at the latest, by the first timestamp, else by the log, in milliseconds since 1970; none where nothing says it.
    pub signed_at_ms: Option<i64>,
    /// Whether there were bytes to compare with what was signed.
    pub has_artifact: bool,
    /// What became of the SCTs of its certificate.
    pub scts: VerifiedScts,
}

/// What became of the SCTs of a bundle's certificate (RFC 6962 section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifiedScts {
    /// There is none, or no certificate.
    Absent,
    /// They are of trusted CT logs, and hold.
    Verified,
    /// Nobody looked at them, since no CT log is trusted whose key is verified here.
    Unverified,
}

/// Why a bundle is not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleFault {
    /// It does not hold.
    Broken(Fault),
    /// A part of it cannot be verified without what is named, and nothing is said against it.
    Needs {
        /// The part.
        part: &'static str,
        /// What is not at hand.
        what: &'static str,
    },
    /// It is by something that is not verified here, and nothing is said against it.
    Unverified(String),
}

impl From<Fault> for BundleFault {
    fn from(fault: Fault) -> Self {
        if is_unverified(&fault) { Self::Unverified(fault.detail) } else { Self::Broken(fault) }
    }
}

impl BundleVerifier {
    /// One that trusts what a trusted root says.
    pub fn of_root(root: &TrustedRoot) -> Self {
        let (trust, tiles) = Trust::of_root(root);
        Self::new(Arc::new(trust), tiles)
    }

    pub(super) fn new(trust: Arc<Trust>, tiles: Vec<Verifier>) -> Self {
        let timestamps = trust.timestamp().cloned().map(TimestampVerifier::new);
        Self { trust, tiles, timestamps }
    }

    /// Verifies all that the bundle says, and that it is of what is expected.
    ///
    /// # Errors
    /// The first thing that does not hold, or without which nothing can be said.
    pub fn verify(
        &mut self,
        bundle: &SignedBundle,
        expected: &ExpectedBundle<'_>,
    ) -> Result<VerifiedBundle, BundleFault> {
        let leaf = match &bundle.signer {
            BundleSigner::Certificate(der) => Some(parsed(der)?),
            BundleSigner::Key => None,
        };
        let another = || Fault::new(KEY, "its certificate is of another key than the given one");
        let certified = match (leaf.as_ref().map(|leaf| LogKey::from_der(leaf.spki)), expected.key) {
            (Some(Ok(certified)), Some(key)) if !certified.is_same_key(key) => return Err(another().into()),
            // The given one is of an algorithm that is known.
            (Some(Err(KeyError::Algorithm)), Some(_)) => return Err(another().into()),
            (certified, _) => certified.transpose().map_err(|why| unread_key(&why))?,
        };
        let key = match (&certified, expected.key) {
            (Some(certified), _) => certified,
            (None, Some(key)) => key,
            (None, None) => return Err(needs("its signature", "the key of whoever signed")),
        };
        check_content(bundle, key, expected.artifact)?;
        let mut times_ms = self.timestamps(bundle)?;
        for entry in &bundle.entries {
            times_ms.extend(self.entry((bundle, expected.artifact), key, entry)?);
        }
        if let Some(leaf) = &leaf {
            if times_ms.is_empty() {
                return Err(Fault::new(NO_TIME, "nothing in it says when it was signed").into());
            }
            self.certificate(leaf, expected, &times_ms)?;
        }
        let first = bundle.entries.first();
        let kind = first.and_then(|entry| entry.kind_version.clone()).unwrap_or_default();
        let identity = leaf.as_ref().map(|leaf| identity_of(leaf).map(Cow::into_owned)).transpose()?;
        let issuer = leaf.as_ref().map(issuers_of).transpose()?;
        Ok(VerifiedBundle {
            entry: format!("{} {}", kind.kind, kind.version),
            log_index: first.map_or(0, |entry| entry.log_index),
            identity,
            issuer: issuer.and_then(|mut issuers| issuers.next().map(str::to_owned)),
            signed_at_ms: times_ms.first().copied(),
            has_artifact: expected.artifact.is_some(),
            scts: self.verified_scts(leaf.as_ref(), expected),
        })
    }

    fn certificate(
        &self,
        leaf: &Certificate<'_>,
        expected: &ExpectedBundle<'_>,
        times_ms: &[i64],
    ) -> Result<(), BundleFault> {
        if self.trust.fulcio().is_none() {
            return Err(needs("its certificate", "a chain of Fulcio"));
        }
        expected.identity.map_or(Ok(()), |identity| check_identity(leaf, identity))?;
        expected.issuer.map_or(Ok(()), |issuer| check_issuer(leaf, issuer))?;
        check_usage(leaf)?;
        for at_ms in times_ms {
            let at = believed_within(leaf, self.trust.skew, at_ms.div_euclid(1000));
            check_path(&self.trust, leaf, &[], at)?;
        }
        Ok(check_scts(&self.trust, leaf, expected.detached_sct)?)
    }

    /// What became of the SCTs of a certificate that holds.
    fn verified_scts(&self, leaf: Option<&Certificate<'_>>, expected: &ExpectedBundle<'_>) -> VerifiedScts {
        let is_there = expected.detached_sct.is_some() || leaf.is_some_and(has_scts);
        match (is_there, self.trust.knows_ct_logs()) {
            (false, _) => VerifiedScts::Absent,
            (true, true) => VerifiedScts::Verified,
            (true, false) => VerifiedScts::Unverified,
        }
    }

    /// When each of its timestamps was made.
    fn timestamps(&mut self, bundle: &SignedBundle) -> Result<Vec<i64>, BundleFault> {
        let imprint = ExpectedImprint::Message(bundle.signature());
        let expected = ExpectedTimestamp { imprint, nonce: None, not_before_ms: None, not_after_ms: None };
        let mut times_ms = Vec::new();
        for timestamp in &bundle.timestamps {
            let verifier = self.timestamps.as_mut();
            let verifier = verifier.ok_or(needs("its timestamp", "a chain of the timestamp authority"))?;
            let timestamp = ber::to_der(timestamp);
            let verified = verifier.verify(&timestamp, &expected);
            let verified = verified.map_err(|why| fault_of_timestamp(&self.trust, &why))?;
            times_ms.push(verified.unix_ms);
        }
        Ok(times_ms)
    }

    /// The entry is of the bundle's signature, and stands in a log that is trusted; when, where that log says it.
    fn entry(
        &self,
        of: (&SignedBundle, Option<&[u8]>),
        key: &LogKey,
        entry: &TransparencyLogEntry,
    ) -> Result<Option<i64>, BundleFault> {
        let body = &entry.canonicalized_body;
        let kind = entry.kind_version.as_ref().map_or("", |kind| kind.kind.as_str());
        if !VERIFIED_KINDS.contains(&kind) && !kind.is_empty() {
            return Err(needs(ENTRY, "whoever knows entries of its kind"));
        }
        let logged = LoggedSignature::read(body).map_err(unread_entry)?;
        check_logged(of, key, entry, &logged)?;
        if logged.version == REKOR_V1 {
            let entry = LogEntry::of_bundle(entry).map_err(malformed)?;
            let shards = ShardOffsets::default();
            let (log, leaf) = (LogTrust { trust: &self.trust, shards: &shards }, leaf_hash(body));
            if self.trust.rekor_keys().is_empty() && !self.trust.is_unread_log(&entry.log_id) {
                return Err(needs(ENTRY, A_LOG));
            }
            judge_place(log, &entry, &leaf, &mut BelievedNote::default())?;
            return Ok(Some(entry.integrated_time.saturating_mul(1000)));
        }
        let id = entry.log_id.as_ref().map_or(&[][..], |id| &id.key_id);
        let Some(log) = self.tiles.iter().find(|verifier| verifier.is_named_by(id)) else {
            return Err(self.unknown_log(entry, id));
        };
        judge_tiles_place(Some(log), entry, &mut BelievedCheckpoint::default())?;
        Ok(None)
    }

    /// Why an entry of Rekor v2 is not verified whose log is none of the trusted ones by this id.
    fn unknown_log(&self, entry: &TransparencyLogEntry, id: &[u8]) -> BundleFault {
        if Hash::from_slice(id).is_some_and(|id| self.trust.is_unread(&id)) {
            return unread_log(&format!("the entry is of log {}", log_named(id))).into();
        }
        if self.tiles.is_empty() {
            return needs(ENTRY, if self.trust.rekor_keys().is_empty() { A_LOG } else { A_PLACED_LOG });
        }
        let renamed = self.tiles.iter().find_map(|log| under_another_origin(log, entry));
        renamed.map_or_else(
            || {
                let told = format!("the entry is of log {}, which is not trusted", log_named(id));
                Fault::new(LOG_ID, told).into()
            },
            BundleFault::from,
        )
    }
}

const fn needs(part: &'static str, what: &'static str) -> BundleFault {
    BundleFault::Needs { part, what }
}

fn parsed(der: &[u8]) -> Result<Certificate<'_>, Fault> {
    Certificate::parse(der).map_err(|why| malformed(format!("its certificate: {why}")))
}

/// The signature is the key's over the artifact, or over the statement, which then is about the artifact.
fn check_content(bundle: &SignedBundle, key: &LogKey, artifact: Option<&[u8]>) -> Result<(), BundleFault> {
    let broken = |why: String| Fault::new(SIGNATURE, why);
    match (&bundle.content, artifact) {
        (BundleContent::Message { digest, signature }, Some(artifact)) => {
            if let Some(stated) = digest {
                let algorithm = digest_of(stated)?;
                if algorithm.digest(artifact).as_ref() != stated.digest.as_slice() {
                    return Err(Fault::new(ARTIFACT, "its digest is not that of the artifact").into());
                }
            }
            let judged = check_signature(key, artifact, signature);
            // RFC 8032 has two ways to sign by such a key, and the one that signs a hash signs SHA-512.
            let may_be_prehashed = key.algorithm() == KeyAlgorithm::Ed25519
                && digest.as_ref().is_some_and(|digest| digest.algorithm == SHA512);
            judged.map_err(|why| match may_be_prehashed {
                true => BundleFault::Unverified("signatures of Ed25519ph are not verified here".to_owned()),
                false => broken(why).into(),
            })
        }
        (BundleContent::Message { digest, signature }, None) => {
            // Only ECDSA is asked of a hash.
            let is_of_curve = !matches!(key.algorithm(), KeyAlgorithm::Rsa | KeyAlgorithm::Ed25519);
            let stated =
                digest.as_ref().filter(|_| is_of_curve).ok_or(needs("its signature", "the artifact"))?;
            let algorithm = digest_of(stated)?;
            let judged = key.verify_digest(algorithm, &stated.digest, signature);
            Ok(judged.map_err(|why| broken(why.to_string()))?)
        }
        (BundleContent::Envelope { payload_type, payload, signature }, artifact) => {
            check_signature(key, &envelope::signed(payload_type, payload), signature).map_err(broken)?;
            let Some(artifact) = artifact else { return Ok(()) };
            let subjects = envelope::subjects(payload).map_err(malformed)?;
            if subjects.is_empty() {
                return Err(BundleFault::Unverified("its statement has no digest of SHA-2".to_owned()));
            }
            let is_about = |(algorithm, digest): &(DigestAlgorithm, Vec<u8>)| {
                algorithm.digest(artifact).as_ref() == digest.as_slice()
            };
            match subjects.iter().any(is_about) {
                true => Ok(()),
                false => Err(Fault::new(ARTIFACT, "its statement is not about the artifact").into()),
            }
        }
    }
}

/// The algorithm of a digest that is stated.
fn digest_of(stated: &HashOutput) -> Result<DigestAlgorithm, BundleFault> {
    let unknown = || BundleFault::Unverified(format!("its digest is {}, none of SHA-2", stated.algorithm));
    digest_named(&stated.algorithm).ok_or_else(unknown)
}

/// The log has the signature, of what is signed, by the signer.
fn check_logged(
    (bundle, artifact): (&SignedBundle, Option<&[u8]>),
    key: &LogKey,
    entry: &TransparencyLogEntry,
    logged: &LoggedSignature,
) -> Result<(), Fault> {
    let kind = entry.kind_version.as_ref();
    if kind.is_none_or(|kind| (kind.kind.as_str(), &kind.version) != (logged.kind.name(), &logged.version)) {
        let said = kind.map_or_else(|| "none".to_owned(), |kind| format!("{} {}", kind.kind, kind.version));
        let told =
            format!("the entry is {} {}, and is said to be {said}", logged.kind.name(), logged.version);
        return Err(Fault::new(BODY, told));
    }
    let is_about = match (&bundle.content, logged.kind) {
        (BundleContent::Message { digest: Some(digest), .. }, LoggedKind::HashedRekord) => {
            logged.has_digest(&digest.digest)
        }
        (BundleContent::Message { digest: None, .. }, LoggedKind::HashedRekord) => {
            artifact.is_some_and(|artifact| logged.is_about(artifact))
        }
        (BundleContent::Envelope { payload, .. }, LoggedKind::Dsse) => logged.is_about(payload),
        // rekor-tiles 2.3 takes no dsse entries any more: of an envelope cosign logs what was signed.
        (BundleContent::Envelope { payload_type, payload, .. }, LoggedKind::HashedRekord) => {
            logged.is_about(&envelope::signed(payload_type, payload))
        }
        _ => false,
    };
    let is_signer = match (&bundle.signer, &logged.signer) {
        (BundleSigner::Certificate(der), LoggedSigner::Certificate(logged)) => der == logged,
        (BundleSigner::Key, LoggedSigner::Key(spki)) => match LogKey::from_der(spki) {
            Ok(logged) => logged.is_same_key(key),
            Err(why @ KeyError::Compressed) => return Err(unread_key(&why)),
            Err(_) => false,
        },
        _ => false,
    };
    if is_about && is_signer && bundle.signature() == logged.signature {
        return Ok(());
    }
    let what = if !is_about {
        "artifact"
    } else if !is_signer {
        "signer"
    } else {
        "signature"
    };
    Err(Fault::new(BODY, format!("the log has an entry of another {what}")))
}

/// The part of a bundle that a log keeps.
const ENTRY: &str = "its entry";
/// What a trusted root without any log lacks.
const A_LOG: &str = "a log among the trusted root's `tlogs`";
/// What one lacks whose logs do not say where they are, from which Rekor v2 has its origin.
const A_PLACED_LOG: &str = "a log with its `baseUrl` among the trusted root's `tlogs`";
/// The kinds of entries of which what they say is known here.
const VERIFIED_KINDS: [&str; 2] = ["hashedrekord", "dsse"];
/// An entry of Rekor v1, as its own version.
const REKOR_V1: &str = "0.0.1";
const SHA512: &str = "SHA2_512";
/// What was signed is not what is at hand.
const ARTIFACT: &str = "another-artifact";
/// Somebody else signed.
const KEY: &str = "another-key";
const NO_TIME: &str = "no-time";

#[cfg(test)]
mod tests;
