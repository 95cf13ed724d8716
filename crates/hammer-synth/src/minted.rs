//! One chain, ready to be submitted, in buffers that are used again for the next.

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
    /// The certificates one after the other, the leaf first.
    pub(crate) bytes: Vec<u8>,
    /// Where each certificate of `bytes` ends.
    pub(crate) ends: Vec<usize>,
    pub(crate) tbs: Vec<u8>,
    pub(crate) issuer_key_hash: [u8; 32],
    pub(crate) not_after: u64,
    pub(crate) scratch: Scratch,
}

/// Buffers of the work itself, which mean nothing between two leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) subject_key: Vec<u8>,
    pub(crate) poisoned: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl Minted {
    /// Empty buffers, holding no chain yet.
    pub fn new() -> Self {
        Self {
            seq: 0,
            kind: Kind::X509,
            bytes: Vec::new(),
            ends: Vec::new(),
            tbs: Vec::new(),
            issuer_key_hash: [0; 32],
            not_after: 0,
            scratch: Scratch::default(),
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
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|place| {
            let start = if place == 0 { 0 } else { self.ends[place - 1] };
            &self.bytes[start..self.ends[place]]
        })
    }

    /// The certificate or precertificate that is submitted.
    ///
    /// # Panics
    /// When nothing was minted yet.
    pub fn leaf(&self) -> &[u8] {
        &self.bytes[..self.ends[0]]
    }

    /// The TBSCertificate in DER; of a precertificate the one that the SCT covers: without the poison, and with the issuer
    /// and authority key identifier of the final certificate (RFC 6962 section 3.2).
    pub fn tbs(&self) -> &[u8] {
        &self.tbs
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
        if let Some(last) = self.ends.first().and_then(|end| self.bytes.get_mut(end - 1)) {
            *last ^= 1;
        }
    }

    /// Becomes the chain that `other` holds, in the buffers that are there.
    pub fn copy_from(&mut self, other: &Self) {
        self.start(other.seq, other.kind);
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend_from_slice(&other.ends);
        self.tbs.extend_from_slice(&other.tbs);
        self.issuer_key_hash = other.issuer_key_hash;
        self.not_after = other.not_after;
    }

    /// Bytes of memory behind it.
    pub fn capacity(&self) -> usize {
        let Scratch { subject_key, poisoned, signature } = &self.scratch;
        let buffers = [&self.bytes, &self.tbs, subject_key, poisoned, signature];
        buffers.iter().map(|buffer| buffer.capacity()).sum::<usize>()
            + self.ends.capacity() * size_of::<usize>()
    }

    /// Forgets the chain and keeps the buffers.
    pub(crate) fn start(&mut self, seq: u64, kind: Kind) {
        self.seq = seq;
        self.kind = kind;
        self.bytes.clear();
        self.ends.clear();
        self.tbs.clear();
    }

    pub(crate) fn push(&mut self, certificate: &[u8]) {
        self.bytes.extend_from_slice(certificate);
        self.ends.push(self.bytes.len());
    }
}

impl Default for Minted {
    fn default() -> Self {
        Self::new()
    }
}
