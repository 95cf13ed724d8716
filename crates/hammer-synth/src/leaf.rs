//! Leaves: a template, plus the fields that change from seq to seq.

mod layout;

use std::sync::Arc;

use crate::authority::Issuer;
use crate::der::Field;
use crate::leaf::layout::Layout;
use crate::minted::{Kind, Minted};
use crate::name;
use crate::profile::Profile;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::signer::Signer;
use crate::subject_key::SubjectKeys;
use crate::tbs;
use crate::validity::{TIME, Validity, time_text};
use crate::{Error, spki};

/// What is signed for a leaf, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
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
pub struct LeafTemplate {
    form: Form,
    /// What an SCT covers; for [`Form::Certificate`] also what is signed.
    entry: TbsTemplate,
    /// What is signed for a precertificate: poisoned, and in the name of its signer.
    poisoned: Option<TbsTemplate>,
    signer: Arc<dyn Signer>,
    issuer_key_hash: [u8; 32],
    subject_keys: SubjectKeys,
    serial_prefix: [u8; 8],
}

impl LeafTemplate {
    /// Builds the template. The chain length of the profile does not matter to a leaf.
    ///
    /// # Errors
    /// [`Error::Spec`] when the form wants a Precertificate Signing Certificate and the issuer has none.
    pub fn new(
        seed: &Seed,
        profile: Profile,
        issuer: &Issuer,
        form: Form,
        validity: Validity,
    ) -> Result<Self, Error> {
        Self::shaped(seed, profile, issuer, form, validity, Shape::default())
    }

    pub(crate) fn shaped(
        seed: &Seed,
        profile: Profile,
        issuer: &Issuer,
        form: Form,
        validity: Validity,
        shape: Shape,
    ) -> Result<Self, Error> {
        let signed_as = match form {
            Form::Certificate | Form::Precert => issuer.as_signer(),
            Form::PrecertBySigningCertificate => {
                issuer.precert_signer().ok_or(Error::Spec { reason: NO_PRECERT_SIGNER })?.as_signer()
            }
        };
        let layout = Layout { seed, profile, validity, shape };
        let template = |signer, poisoned| {
            let der = layout.encode(0, validity.not_after(), signer, poisoned);
            TbsTemplate { bytes: der.bytes, fields: der.marks }
        };
        Ok(Self {
            form,
            entry: template(&issuer.as_signer(), false),
            poisoned: (form != Form::Certificate).then(|| template(&signed_as, true)),
            signer: Arc::clone(signed_as.key),
            issuer_key_hash: issuer.key().key_hash(),
            subject_keys: SubjectKeys::new(seed, profile.subject_key),
            serial_prefix: tbs::serial_prefix(seed),
        })
    }

    /// What the template signs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Writes the leaf of `seq` as the only certificate of `out`, with its TBSCertificate, kind and dates. `not_after`, its
    /// last valid second, is one of the template's.
    pub fn write(&self, seq: u64, not_after: u64, out: &mut Minted) {
        out.start(seq, self.form.kind());
        out.issuer_key_hash = self.issuer_key_hash;
        out.not_after = not_after;
        let Minted { bytes, tbs: entry, scratch, .. } = out;
        self.subject_keys.write(seq, &mut scratch.subject_key);
        let mut time = [0; TIME];
        let values = Values {
            serial: tbs::serial(&self.serial_prefix, seq),
            label: name::label(seq),
            subject_key: &scratch.subject_key,
            subject_key_id: spki::key_id(&scratch.subject_key),
            not_after: time_text(not_after, &mut time),
        };
        self.entry.fill(&values, entry);
        let signed = match &self.poisoned {
            None => &*entry,
            Some(template) => {
                scratch.poisoned.clear();
                template.fill(&values, &mut scratch.poisoned);
                &scratch.poisoned
            }
        };
        tbs::write_certificate(signed, self.signer.as_ref(), &mut scratch.signature, bytes);
        out.ends.push(out.bytes.len());
    }
}

impl Form {
    /// Which submission a leaf of this form is for.
    pub const fn kind(self) -> Kind {
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
