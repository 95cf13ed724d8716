//! What a flow signs, with which key, and in whose name: a pure function of the run's seed and the flow's sequence number.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use hammer_core::draw::Draws;
use hammer_p256::{KeyBlocks, KeyWalk, NonceBlocks, SPKI_PREFIX, ThrowawayKey};
use hammer_synth::Seed;
use hammer_tlog::hash::{Hash, sha256};

use crate::envelope::FlowEnvelope;
use crate::error::SigstoreError;
use crate::plan::{CertificateRequest, EntryKind};
use crate::signing_request;

/// The flows of one workload.
#[derive(Clone, Debug)]
pub(crate) struct FlowMaterials {
    seed: Seed,
    keys: KeyWalk,
    signatures: [u8; 32],
    /// Among so many identities each flow draws its own; as many as there are flows where none are stated.
    identities: Option<u64>,
    /// The same of artifacts.
    artifacts: Option<u64>,
    /// What every flow signs, where it is stated.
    fixed: Option<Arc<FixedArtifact>>,
    /// What the key is shown with.
    request: CertificateRequest,
    /// Whether what is signed is an envelope.
    entry: EntryKind,
    /// Whether keys are shown to anybody.
    is_shown: bool,
    /// Whether anybody is asked for a timestamp.
    is_stamped: bool,
    draws: Draws,
}

/// A file that is signed.
#[derive(Debug)]
pub(crate) struct FixedArtifact {
    bytes: Vec<u8>,
    digest: Hash,
}

impl FixedArtifact {
    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read, or is too large to be held by every flow.
    pub(crate) fn read(path: &Path) -> Result<Self, SigstoreError> {
        let failed = |source| SigstoreError::Artifact { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        File::open(path).map_err(failed)?.take(MOST_ARTIFACT + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MOST_ARTIFACT {
            return Err(failed(io::Error::other(
                "it has more than 1 MiB, which every flow in flight would hold",
            )));
        }
        let digest = sha256(&bytes);
        Ok(Self { bytes, digest })
    }
}

/// What a thread that prepares flows holds on to; what is prepared does not depend on it.
#[derive(Debug, Default)]
pub(crate) struct FlowScratch {
    keys: KeyBlocks,
    nonces: NonceBlocks,
}

/// What one flow has before it sends anything.
#[derive(Debug, Default)]
pub(crate) struct FlowMaterial {
    /// The e-mail address by which its token and its certificate name it.
    pub(crate) identity: String,
    /// Its key, a DER `SubjectPublicKeyInfo` of P-256.
    pub(crate) spki: Vec<u8>,
    /// The signature by which Fulcio is shown that the key is at hand, DER: over the identity, or over what a certification request says.
    pub(crate) proof: Vec<u8>,
    /// What is signed, or what a statement that is signed is about.
    pub(crate) artifact: Vec<u8>,
    /// The envelope that is signed in place of the artifact; empty where there is none.
    pub(crate) envelope: FlowEnvelope,
    /// SHA-256 of what is signed.
    pub(crate) digest: Hash,
    /// The signature over that, DER.
    pub(crate) signature: Vec<u8>,
    /// SHA-256 of the signature: what a timestamp is of.
    pub(crate) signature_digest: Hash,
    /// The nonce of the request for a timestamp.
    pub(crate) nonce: u64,
}

impl FlowScratch {
    /// For one of n threads, each of which prepares every n-th flow.
    pub(crate) fn of_one_among(threads: usize) -> Self {
        let stride = threads as u64;
        Self { keys: KeyBlocks::striding(stride), nonces: NonceBlocks::striding(stride) }
    }
}

impl FlowMaterials {
    /// The flows of that stream of a seed, with pools of identities and artifacts where hot ones are wanted.
    pub(crate) fn new(seed: u64, stream: u64, identities: Option<u64>, artifacts: Option<u64>) -> Self {
        let draws = Draws::new(seed, stream ^ POOLS);
        let seed = Seed::from_u64(seed).child("sigstore flows", stream);
        let keys = KeyWalk::derive(&seed.derive("keys", 0), 0);
        let signatures = seed.derive("signatures", 0);
        let (request, entry) = Default::default();
        let (fixed, is_shown, is_stamped) = (None, true, true);
        Self {
            seed,
            keys,
            signatures,
            identities,
            artifacts,
            fixed,
            request,
            entry,
            is_shown,
            is_stamped,
            draws,
        }
    }

    /// The same flows, without what no step of theirs sends: the proof of a key that is shown to nobody, and what a timestamp is asked for
    /// with.
    pub(crate) fn for_steps(self, is_shown: bool, is_stamped: bool) -> Self {
        Self { is_shown, is_stamped, ..self }
    }

    /// The same flows, which show their keys so, and sign that.
    pub(crate) fn of_form(self, request: CertificateRequest, entry: EntryKind) -> Self {
        Self { request, entry, ..self }
    }

    /// The same flows, all of which sign that file, where there is one.
    pub(crate) fn signing(self, fixed: Option<FixedArtifact>) -> Self {
        Self { fixed: fixed.map(Arc::new), ..self }
    }

    /// Writes what the flow `seq` has, in the memory of an earlier one; `subject` is the identity of all flows where they have one.
    pub(crate) fn write(
        &self,
        seq: u64,
        subject: Option<&str>,
        scratch: &mut FlowScratch,
        out: &mut FlowMaterial,
    ) {
        let key = self.keys.key_pair(seq, &mut scratch.keys);
        out.spki.clear();
        out.spki.extend_from_slice(&SPKI_PREFIX);
        out.spki.extend_from_slice(key.public_key());
        self.write_identity(seq, subject, &mut out.identity);
        self.write_artifact(seq, &mut out.artifact);
        out.digest = self.fixed.as_ref().map_or_else(|| sha256(&out.artifact), |fixed| fixed.digest);
        if self.entry == EntryKind::Dsse {
            out.digest = out.envelope.state(&out.digest);
        }
        if self.is_shown {
            let (purpose, proven) = match self.request {
                CertificateRequest::Key => (PROOF, sha256(out.identity.as_bytes())),
                CertificateRequest::Csr => (SIGNING_REQUEST, sha256(&signing_request::info(&out.spki))),
            };
            self.sign(&key, (purpose, seq), &proven, scratch, &mut out.proof);
        }
        self.sign(&key, (ARTIFACT, seq), &out.digest, scratch, &mut out.signature);
        if self.entry == EntryKind::Dsse {
            out.envelope.close(&out.signature);
        }
        if !self.is_stamped {
            return;
        }
        out.signature_digest = sha256(&out.signature);
        let [a, b, c, d, e, f, g, h, ..] = self.seed.derive("timestamp nonce", seq);
        // A nonce of JSON's requests is a number that not every reader holds in more than 63 bits.
        out.nonce = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1;
    }

    /// Proves possession of the key of the flow `seq` to whoever believes a token of `subject`, in place of the one whom it was prepared
    /// for. It takes a tenth of a millisecond, and is for a token that is of somebody else than the run's first one.
    pub(crate) fn prove_as(&self, seq: u64, subject: &str, out: &mut FlowMaterial) {
        out.identity.clear();
        out.identity.push_str(subject);
        if self.request == CertificateRequest::Csr {
            // It says whose the key is by nothing but the key.
            return;
        }
        let key = self.keys.key_pair(seq, &mut KeyBlocks::default());
        let proven = sha256(subject.as_bytes());
        // The nonce follows from the subject too, since no nonce signs two messages.
        let nonces = sha256(&[&self.signatures[..], &proven.0].concat());
        let proof = key.walk(&nonces.0, PROOF_AS_ANOTHER).sign(seq, &proven.0, &mut NonceBlocks::default());
        out.proof.clear();
        out.proof.extend_from_slice(proof.as_ref());
    }

    /// Replaces `out` by the artifact of the flow `seq`: what somebody who verifies it has at hand.
    pub(crate) fn write_artifact(&self, seq: u64, out: &mut Vec<u8>) {
        out.clear();
        if let Some(fixed) = &self.fixed {
            return out.extend_from_slice(&fixed.bytes);
        }
        out.extend_from_slice(b"hammer artifact ");
        out.extend_from_slice(&self.seed.derive("artifact", self.drawn(seq, self.artifacts)));
    }

    /// Each flow signs with each purpose once, so that no nonce signs two messages.
    fn sign(
        &self,
        key: &ThrowawayKey,
        (purpose, seq): (u64, u64),
        digest: &Hash,
        scratch: &mut FlowScratch,
        out: &mut Vec<u8>,
    ) {
        let walk = key.walk(&self.signatures, purpose);
        out.clear();
        out.extend_from_slice(walk.sign(seq, &digest.0, &mut scratch.nonces).as_ref());
    }

    fn write_identity(&self, seq: u64, subject: Option<&str>, out: &mut String) {
        out.clear();
        match subject {
            Some(subject) => out.push_str(subject),
            None => out.extend(["flow-", &self.drawn(seq, self.identities).to_string(), "@hammer.test"]),
        }
    }

    fn drawn(&self, seq: u64, pool: Option<u64>) -> u64 {
        pool.map_or(seq, |pool| self.draws.bits(seq) % pool.max(1))
    }
}

/// Bytes of a file that flows sign.
const MOST_ARTIFACT: u64 = 1 << 20;
const PROOF: u64 = 1;
const ARTIFACT: u64 = 2;
const PROOF_AS_ANOTHER: u64 = 3;
const SIGNING_REQUEST: u64 = 4;
const POOLS: u64 = 0x5167_0000;

#[cfg(test)]
mod tests {
    use hammer_tlog::keys::key::LogKey;

    use super::*;

    fn material(materials: &FlowMaterials, seq: u64) -> FlowMaterial {
        let mut out = FlowMaterial::default();
        materials.write(seq, None, &mut FlowScratch::default(), &mut out);
        out
    }

    #[test]
    fn a_flow_signs_its_own_identity_and_artifact_with_its_own_key() {
        let materials = FlowMaterials::new(1, 0, None, None);
        let (first, second) = (material(&materials, 0), material(&materials, 1));
        assert_eq!(first.spki.len(), 91);
        let key = LogKey::from_der(&first.spki).unwrap();
        assert_eq!(key.verify_raw(first.identity.as_bytes(), &first.proof), Ok(()));
        assert_eq!(key.verify_raw(&first.artifact, &first.signature), Ok(()));
        assert!(key.verify_raw(&second.artifact, &second.signature).is_err());
        assert!(first.identity != second.identity && first.digest != second.digest);
    }

    #[test]
    fn a_flow_that_asks_by_a_request_and_attests_signs_both_with_its_own_key() {
        let plain = FlowMaterials::new(1, 0, None, None);
        let formed = plain.clone().of_form(CertificateRequest::Csr, EntryKind::Dsse);
        let (plain, mut formed_one) = (material(&plain, 3), material(&formed, 3));
        assert_eq!((&plain.spki, &plain.artifact), (&formed_one.spki, &formed_one.artifact));
        let key = LogKey::from_der(&formed_one.spki).unwrap();
        assert_eq!(key.verify_raw(&signing_request::info(&formed_one.spki), &formed_one.proof), Ok(()));
        let FlowEnvelope { payload, signed, .. } = &formed_one.envelope;
        assert_eq!(key.verify_raw(signed, &formed_one.signature), Ok(()));
        assert_eq!(formed_one.digest, sha256(signed));
        let subject =
            (hammer_tlog::keys::digest::DigestAlgorithm::Sha256, sha256(&formed_one.artifact).0.to_vec());
        assert_eq!(crate::envelope::subjects(payload), Ok(vec![subject]));
        let proof = formed_one.proof.clone();
        formed.prove_as(3, "another@hammer.test", &mut formed_one);
        assert_eq!((formed_one.identity.as_str(), formed_one.proof), ("another@hammer.test", proof));
        assert!(plain.envelope.payload.is_empty());
    }

    #[test]
    fn what_a_flow_signs_does_not_depend_on_the_steps_that_it_has() {
        let all = FlowMaterials::new(1, 0, None, None);
        let (all, bare) = (material(&all, 3), material(&all.clone().for_steps(false, false), 3));
        assert_eq!((&all.spki, &all.artifact, &all.signature), (&bare.spki, &bare.artifact, &bare.signature));
        assert!(!all.proof.is_empty() && bare.proof.is_empty() && all.nonce != bare.nonce);
    }

    #[test]
    fn a_flow_may_prove_its_key_as_somebody_else() {
        let materials = FlowMaterials::new(1, 0, None, None);
        let prepared = material(&materials, 5);
        let mut shown = material(&materials, 5);
        materials.prove_as(5, "another@hammer.test", &mut shown);
        assert_eq!(shown.identity, "another@hammer.test");
        assert_eq!((&shown.spki, &shown.signature), (&prepared.spki, &prepared.signature));
        let key = LogKey::from_der(&shown.spki).unwrap();
        assert_eq!(key.verify_raw(b"another@hammer.test", &shown.proof), Ok(()));
        assert!(key.verify_raw(prepared.identity.as_bytes(), &shown.proof).is_err());
    }

    #[test]
    fn a_flow_is_the_same_whoever_prepares_it() {
        let materials = FlowMaterials::new(9, 3, None, None);
        let mut scratch = FlowScratch::of_one_among(2);
        let mut out = FlowMaterial::default();
        for seq in [40, 42, 44, 7] {
            materials.write(seq, None, &mut scratch, &mut out);
            let alone = material(&materials, seq);
            assert_eq!(
                (&out.proof, &out.signature, out.nonce),
                (&alone.proof, &alone.signature, alone.nonce)
            );
        }
        assert_ne!(material(&FlowMaterials::new(9, 4, None, None), 7).spki, out.spki);
    }

    #[test]
    fn a_pool_is_all_that_is_drawn_from_and_all_of_it_is_drawn() {
        let materials = FlowMaterials::new(1, 0, Some(3), Some(2));
        let flows: Vec<_> = (0..60).map(|seq| material(&materials, seq)).collect();
        let distinct = |of: &dyn Fn(&FlowMaterial) -> Vec<u8>| {
            flows.iter().map(of).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(&|flow| flow.identity.clone().into_bytes()), 3);
        assert_eq!(distinct(&|flow| flow.artifact.clone()), 2);
        assert_eq!(distinct(&|flow| flow.spki.clone()), 60);
    }
}
