//! One chain, ready to be submitted, in buffers that are used again for the next.

use std::iter;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::PAD;
use base64::engine::simd::Simd;

use crate::above::Above;

/// Which of the two submissions of RFC 6962 section 4 a chain is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A final certificate, for `add-chain`; `x509_entry`.
    X509,
    /// A precertificate, for `add-pre-chain`; `precert_entry`.
    Precert,
}

/// A chain and what is needed to check the SCT over it. Keep one and mint into it again and again: its buffers stay.
#[derive(Clone, Debug)]
pub struct Minted {
    pub(crate) seq: u64,
    pub(crate) kind: Kind,
    /// The leaf, from `leaf_start` on.
    pub(crate) bytes: Vec<u8>,
    pub(crate) leaf_start: usize,
    /// Where in `bytes` the TBSCertificate lies that was signed.
    pub(crate) signed: Range<usize>,
    /// That of the final certificate, where it is another one.
    pub(crate) entry: Vec<u8>,
    pub(crate) above: Option<Arc<Above>>,
    pub(crate) issuer_key_hash: [u8; 32],
    pub(crate) not_after: u64,
}

impl Minted {
    /// Empty buffers, holding no chain yet.
    pub fn new() -> Self {
        Self {
            seq: 0,
            kind: Kind::X509,
            bytes: Vec::new(),
            leaf_start: 0,
            signed: 0..0,
            entry: Vec::new(),
            above: None,
            issuer_key_hash: [0; 32],
            not_after: 0,
        }
    }

    /// The seq that the chain was minted for.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Which submission it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The certificates in DER and in the order of submission, the leaf first.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        let above = self.above.as_deref().into_iter().flat_map(Above::certificates);
        iter::once(self.leaf()).chain(above)
    }

    /// SHA-256 over the fingerprints (SHA-256) of the certificates above the leaf, from its issuer up to the root, which need not be sent; none
    /// where the root is not known.
    pub fn chain_digest(&self) -> Option<[u8; 32]> {
        self.above.as_deref().and_then(Above::digest)
    }

    /// The certificate or precertificate that is submitted; empty when nothing was minted yet.
    pub fn leaf(&self) -> &[u8] {
        &self.bytes[self.leaf_start..]
    }

    /// Appends the body with which the chain is submitted (RFC 6962 section 4.1): what `serde_json` would write.
    pub fn write_add_chain_body(&self, out: &mut Vec<u8>) {
        let end = self.above.as_deref().map_or(ALONE, Above::end_of_body);
        let (start, length) = (out.len() + BODY.len(), self.leaf().len().div_ceil(3) * 4);
        out.reserve(BODY.len() + length + end.len());
        out.extend_from_slice(BODY);
        out.resize(start + length, 0);
        let written = BASE64.encode_slice(self.leaf(), &mut out[start..]);
        debug_assert_eq!(written, Ok(length));
        out.extend_from_slice(end);
    }

    /// The TBSCertificate in DER; of a precertificate the one that the SCT covers: without the poison, and with the issuer
    /// and authority key identifier of the final certificate (RFC 6962 section 3.2).
    pub fn tbs(&self) -> &[u8] {
        match self.kind {
            Kind::X509 => &self.bytes[self.signed.clone()],
            Kind::Precert => &self.entry,
        }
    }

    /// The bytes of `signed_entry` that stand for the leaf: the certificate (`ASN.1Cert`), or the TBSCertificate of a
    /// `PreCert`, whose issuer_key_hash comes before it (RFC 6962 section 3.2). Without their lengths.
    pub fn signed_entry(&self) -> &[u8] {
        match self.kind {
            Kind::X509 => self.leaf(),
            Kind::Precert => self.tbs(),
        }
    }

    /// SHA-256 over the SubjectPublicKeyInfo of the CA that issues the final certificate, for both kinds. Zeros for a final
    /// certificate from a file that does not hold its issuer.
    pub fn issuer_key_hash(&self) -> &[u8; 32] {
        &self.issuer_key_hash
    }

    /// The leaf's last valid second, since the Unix epoch.
    pub fn not_after(&self) -> u64 {
        self.not_after
    }

    /// Alters the last byte of the leaf's signature: it stays well-formed, and verifies no longer.
    pub fn break_signature(&mut self) {
        if let Some(last) = self.bytes.last_mut() {
            *last ^= 1;
        }
    }

    /// Becomes the chain that `other` holds, in the buffers that are there.
    pub fn copy_from(&mut self, other: &Self) {
        self.start(other.seq, other.kind);
        self.bytes.extend_from_slice(&other.bytes);
        self.leaf_start = other.leaf_start;
        self.signed = other.signed.clone();
        self.entry.extend_from_slice(&other.entry);
        self.above.clone_from(&other.above);
        self.issuer_key_hash = other.issuer_key_hash;
        self.not_after = other.not_after;
    }

    /// Bytes of memory behind it, without what it shares with other chains.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.entry.capacity()
    }

    /// Forgets the chain and keeps the buffers.
    pub(crate) fn start(&mut self, seq: u64, kind: Kind) {
        self.seq = seq;
        self.kind = kind;
        self.bytes.clear();
        self.leaf_start = 0;
        self.entry.clear();
    }

    pub(crate) fn set_above(&mut self, above: &Arc<Above>) {
        if self.above.as_ref().is_none_or(|held| !Arc::ptr_eq(held, above)) {
            self.above = Some(above.clone());
        }
    }
}

impl Default for Minted {
    fn default() -> Self {
        Self::new()
    }
}

/// Standard, padded base64 (RFC 4648 section 4), by the vector instructions that the processor has.
static BASE64: LazyLock<Simd> = LazyLock::new(|| Simd::standard(PAD));
const BODY: &[u8] = br#"{"chain":[""#;
/// How the body ends where nothing is sent after the leaf.
const ALONE: &[u8] = br#""]}"#;
