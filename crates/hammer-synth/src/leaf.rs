//! Leaves: a template, plus the fields that change from seq to seq.

use std::sync::Arc;

use crate::authority::{Issuer, SignerIdentity};
use crate::der::{Der, Field};
use crate::minted::{Kind, Minted};
use crate::name::{self, LeafDomain};
use crate::profile::Profile;
use crate::seed::Seed;
use crate::signer::Signer;
use crate::subject_key::SubjectKeys;
use crate::tbs::{self, Tbs};
use crate::validity::Validity;
use crate::{Error, extension, oid, spki};

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
/// key, subject key identifier, and the signature over all. Dates and everything else are the template's.
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
    not_after: u64,
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
        let signed_as = match form {
            Form::Certificate | Form::Precert => issuer.as_signer(),
            Form::PrecertBySigningCertificate => {
                issuer.precert_signer().ok_or(Error::Spec { reason: NO_PRECERT_SIGNER })?.as_signer()
            }
        };
        let subject_keys = SubjectKeys::new(seed, profile.subject_key);
        let mut serial_prefix = [0; 8];
        seed.fill("serial", 0, &mut serial_prefix);
        let leaf = Leaf { profile, validity, domain: LeafDomain::new(seed), subject_keys: &subject_keys };
        let poisoned = (form != Form::Certificate).then(|| leaf.template(&signed_as, true));
        Ok(Self {
            form,
            entry: leaf.template(&issuer.as_signer(), false),
            poisoned,
            signer: Arc::clone(signed_as.key),
            issuer_key_hash: issuer.key().key_hash(),
            not_after: validity.not_after(),
            subject_keys,
            serial_prefix,
        })
    }

    /// What the template signs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Writes the leaf of `seq` as the only certificate of `out`, with its TBSCertificate, kind and dates.
    pub fn write(&self, seq: u64, out: &mut Minted) {
        out.start(seq, self.form.kind());
        out.issuer_key_hash = self.issuer_key_hash;
        out.not_after = self.not_after;
        let Minted { bytes, tbs: entry, scratch, .. } = out;
        self.subject_keys.write(seq, &mut scratch.subject_key);
        let values = Values {
            serial: tbs::serial(&self.serial_prefix, seq),
            label: name::label(seq),
            subject_key: &scratch.subject_key,
            subject_key_id: spki::key_id(&scratch.subject_key),
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

/// What all TBSCertificates of a template have in common.
struct Leaf<'a> {
    profile: Profile,
    validity: Validity,
    domain: LeafDomain,
    subject_keys: &'a SubjectKeys,
}

impl Leaf<'_> {
    fn template(&self, signer: &SignerIdentity<'_>, poisoned: bool) -> TbsTemplate {
        let mut subject_key = Vec::new();
        self.subject_keys.write(0, &mut subject_key);
        let tbs = Tbs {
            serial: tbs::serial(&[0; 8], 0),
            signature: signer.key.algorithm(),
            issuer: signer.name,
            validity: self.validity,
        };
        let mut der = Der::default();
        tbs.write(
            &mut der,
            |der| self.domain.write_subject(der),
            |der| self.subject_keys.write_spki(der, &subject_key),
            |der| self.write_extensions(der, signer.key_id, poisoned),
        );
        TbsTemplate { bytes: der.bytes, fields: der.marks }
    }

    fn write_extensions(&self, der: &mut Der, authority_key_id: Option<&[u8]>, poisoned: bool) {
        extension::key_usage_of_leaf(der, self.profile.subject_key);
        extension::extended_key_usage(der, &[oid::SERVER_AUTH, oid::CLIENT_AUTH]);
        extension::basic_constraints_of_leaf(der);
        extension::subject_key_identifier(der, &[0; 20]);
        if let Some(key_id) = authority_key_id {
            extension::authority_key_identifier(der, key_id);
        }
        extension::authority_info_access(der, HOST);
        extension::subject_alt_name(der, &self.domain, self.profile.names);
        extension::certificate_policies(der, HOST);
        extension::crl_distribution_points(der, HOST);
        if poisoned {
            extension::poison(der);
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
}

impl Values<'_> {
    fn of(&self, field: Field) -> &[u8] {
        match field {
            Field::Serial => &self.serial,
            Field::Label => &self.label,
            Field::SubjectKey => self.subject_key,
            Field::SubjectKeyId => &self.subject_key_id,
        }
    }
}

/// Where the issuing CA of leaves says that it publishes; nobody answers there (RFC 2606 section 2).
const HOST: &str = "issuing-ca.test";
const NO_PRECERT_SIGNER: &str = "the issuer has no precertificate signing certificate";
