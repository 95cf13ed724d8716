//! Leaves: a template, plus the fields that change from seq to seq.

mod layout;

use std::sync::Arc;

use hammer_p256::NonceWalk;

use crate::authority::{Issuer, SignerIdentity};
use crate::der::{Field, MOST_HEADER};
use crate::error::Error;
use crate::leaf::layout::Layout;
use crate::minted::{Kind, Minted};
use crate::profile::Profile;
use crate::scratch::MintScratch;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::spki::sha256;
use crate::subject_key::SubjectKeyPair;
use crate::validity::{TIME, Validity, time_text};
use crate::{name, spki, tbs};

/// What is signed for a leaf, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// The final certificate, by its issuer.
    Certificate,
    /// The precertificate, by the issuer of the final certificate.
    Precert,
    /// The precertificate, by a Precertificate Signing Certificate of that issuer (RFC 6962 section 3.1).
    PrecertBySigningCertificate,
}

/// A leaf of one profile, issuer and form, built once; for each seq only its fields are written: serial, names, subject
/// key, subject key identifier, the end of validity where ends are spread, and the signature over all. Everything else is
/// the template's.
///
/// The serial has 16 bytes: 8 that follow from the seed, then the seq in big-endian order, so that a recorded submission
/// names its seq.
#[derive(Debug)]
pub(crate) struct LeafTemplate {
    form: Form,
    layout: Layout,
    issuer: Arc<SignerIdentity>,
    signer: Arc<SignerIdentity>,
    /// The signer's signatures, where its key is a throwaway one on P-256 and nonces were named.
    walk: Option<NonceWalk>,
    /// What is signed; of a precertificate poisoned, and in the name of its signer.
    signed: TbsTemplate,
    /// What an SCT covers, where that is not what is signed.
    entry: Option<TbsTemplate>,
    issuer_key_hash: [u8; 32],
    serial_prefix: [u8; 8],
}

impl LeafTemplate {
    /// Builds the template. The chain length of the profile does not matter to a leaf.
    ///
    /// # Errors
    /// [`Error::Spec`] when the form wants a Precertificate Signing Certificate and the issuer has none.
    pub(crate) fn new(
        seed: &Seed,
        profile: Profile,
        issuer: &Issuer,
        form: Form,
        validity: Validity,
        shape: Shape,
    ) -> Result<Self, Error> {
        let signer = match form {
            Form::Certificate | Form::Precert => issuer.identity(),
            Form::PrecertBySigningCertificate => {
                issuer.precert_signer().ok_or(Error::Spec { reason: NO_PRECERT_SIGNER })?.identity()
            }
        };
        let layout = Layout::new(seed, profile, validity, shape);
        let template = |signer, poisoned| {
            let der = layout.encode(0, validity.not_after(), signer, poisoned);
            TbsTemplate { bytes: der.bytes, fields: der.marks }
        };
        Ok(Self {
            form,
            signed: template(signer, form.is_poisoned()),
            entry: form.is_poisoned().then(|| template(issuer.identity(), false)),
            layout,
            issuer: issuer.identity().clone(),
            signer: signer.clone(),
            walk: None,
            issuer_key_hash: issuer.key().key_hash(),
            serial_prefix: tbs::serial_prefix(seed),
        })
    }

    /// Has a throwaway P-256 key sign the leaf of a seq by the nonce of (seed, seq); any other key goes on as it did.
    pub(crate) fn walk(&mut self, seed: &[u8; 32]) {
        self.walk = self.signer.walking.as_ref().map(|key| key.walk(seed, 0));
    }

    /// All that is signed but for what follows from the seq.
    pub(crate) fn signed(&self) -> &[u8] {
        &self.signed.bytes
    }

    /// The key pair that the leaf of `seq` certifies; none where nobody knows a private key.
    pub(crate) fn subject_key_pair(&self, seq: u64, scratch: &mut MintScratch) -> Option<SubjectKeyPair> {
        self.layout.subject_keys.pair(seq, &mut scratch.keys)
    }

    /// Writes the leaf of `seq` into `out`, with its TBSCertificate, kind and dates, and nothing above it. `not_after`, its
    /// last valid second, is one of the template's.
    pub(crate) fn write(&self, seq: u64, not_after: u64, scratch: &mut MintScratch, out: &mut Minted) {
        self.start(seq, not_after, out);
        self.layout.subject_keys.write(seq, &mut scratch.keys, &mut scratch.subject_key);
        let mut time = [0; TIME];
        let values = Values {
            serial: tbs::serial(&self.serial_prefix, seq),
            label: name::label(seq),
            subject_key_id: spki::key_id(&scratch.subject_key),
            subject_key: &scratch.subject_key,
            not_after: time_text(not_after, &mut time),
        };
        if let Some(entry) = &self.entry {
            entry.fill(&values, &mut out.entry);
        }
        out.bytes.extend_from_slice(&[0; MOST_HEADER]);
        self.signed.fill(&values, &mut out.bytes);
        out.signed = MOST_HEADER..out.bytes.len();
        scratch.signature.clear();
        scratch.signature.push(0);
        let message = &out.bytes[MOST_HEADER..];
        match &self.walk {
            Some(walk) => {
                let signature = walk.sign(seq, &sha256(message), &mut scratch.nonces);
                scratch.signature.extend_from_slice(signature.as_ref());
            }
            None => self.signer.key.sign(message, &mut scratch.signature),
        }
        out.leaf_start = tbs::enclose(&mut out.bytes, self.signer.key.algorithm(), &scratch.signature);
    }

    /// The same encoded from nothing, and signed by the signer's safe scheme: what [`LeafTemplate::write`] is held against.
    pub(crate) fn write_slowly(&self, seq: u64, not_after: u64, out: &mut Minted) {
        self.start(seq, not_after, out);
        let tbs = |signer, poisoned| self.layout.encode(seq, not_after, signer, poisoned).bytes;
        if self.entry.is_some() {
            out.entry = tbs(&self.issuer, false);
        }
        let signed = tbs(&self.signer, self.form.is_poisoned());
        let start = tbs::write_certificate(&signed, self.signer.key.as_ref(), &mut out.bytes);
        out.signed = start..start + signed.len();
    }

    fn start(&self, seq: u64, not_after: u64, out: &mut Minted) {
        out.start(seq, self.form.kind());
        out.issuer_key_hash = self.issuer_key_hash;
        out.not_after = not_after;
    }
}

impl Form {
    fn is_poisoned(self) -> bool {
        self.kind() == Kind::Precert
    }

    /// Which submission a leaf of this form is for.
    const fn kind(self) -> Kind {
        match self {
            Self::Certificate => Kind::X509,
            Self::Precert | Self::PrecertBySigningCertificate => Kind::Precert,
        }
    }
}

/// A TBSCertificate with the places of its fields.
#[derive(Debug)]
struct TbsTemplate {
    bytes: Vec<u8>,
    fields: Vec<(Field, usize)>,
}

impl TbsTemplate {
    /// Appends the TBSCertificate with these values.
    fn fill(&self, values: &Values<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        for (field, offset) in &self.fields {
            let value = values.of(*field);
            out[start + offset..start + offset + value.len()].copy_from_slice(value);
        }
    }
}

/// The fields of one leaf.
struct Values<'a> {
    serial: [u8; 16],
    label: [u8; 16],
    subject_key: &'a [u8],
    subject_key_id: [u8; 20],
    not_after: &'a [u8],
}

impl Values<'_> {
    fn of(&self, field: Field) -> &[u8] {
        match field {
            Field::Serial => &self.serial,
            Field::Label => &self.label,
            Field::SubjectKey => self.subject_key,
            Field::SubjectKeyId => &self.subject_key_id,
            Field::NotAfter => self.not_after,
        }
    }
}

const NO_PRECERT_SIGNER: &str = "the issuer has no precertificate signing certificate";

#[cfg(test)]
mod tests;
