//! Hierarchies that follow from the seed.

use std::sync::Arc;

use super::{Hierarchy, HierarchySpec, Issuer, PrecertSigner, SignerIdentity};
use crate::der::Der;
use crate::error::Error;
use crate::key::ThrowawayKey;
use crate::seed::Seed;
use crate::signer::{Algorithm, Signer};
use crate::tbs::{self, Tbs};
use crate::validity::Validity;
use crate::{extension, name, oid, spki};

impl Hierarchy {
    /// A root, `depth` intermediates in a line below it, and a Precertificate Signing Certificate under each of them. Every
    /// key is a [`ThrowawayKey`]: whoever knows the seed holds the root.
    ///
    /// # Errors
    /// [`Error::Spec`] when `depth` is over 8.
    pub fn derive(seed: &Seed, spec: &HierarchySpec) -> Result<Self, Error> {
        if spec.depth > DEEPEST {
            return Err(Error::Spec { reason: "a hierarchy has at most 8 intermediates" });
        }
        let authorities = Authorities { seed, spec, tag: name::stream_tag(seed) };
        let (root, root_certificate) = authorities.root();
        let mut issuers = vec![root];
        for level in 1..=spec.depth {
            issuers.push(authorities.intermediate(&issuers[level - 1], level));
        }
        for (level, issuer) in issuers.iter_mut().enumerate() {
            issuer.precert_signer = Some(authorities.precert_signer(issuer, level));
        }
        Ok(Self { roots: vec![root_certificate], issuers, from_files: false })
    }
}

/// What all authorities of one hierarchy have in common.
struct Authorities<'a> {
    seed: &'a Seed,
    spec: &'a HierarchySpec,
    tag: String,
}

/// One authority before it is certified.
struct Subject {
    identity: SignerIdentity,
    role: Role,
    serial: [u8; 16],
}

#[derive(Clone, Copy)]
enum Role {
    Root,
    Intermediate { path_length: u8 },
    PrecertSigning,
}

impl Authorities<'_> {
    fn root(&self) -> (Issuer, Vec<u8>) {
        let subject = self.subject("root", 0, Role::Root);
        let certificate = certify(&subject.identity, &subject, self.spec.validity);
        (subject.into_issuer(Vec::new()), certificate)
    }

    fn intermediate(&self, parent: &Issuer, level: usize) -> Issuer {
        // The deepest intermediate still certifies its Precertificate Signing Certificate.
        let path_length = (self.spec.depth - level) as u8 + 1;
        let subject = self.subject("intermediate", level, Role::Intermediate { path_length });
        let mut chain = vec![certify(&parent.identity, &subject, self.spec.validity)];
        chain.extend(parent.chain().map(<[u8]>::to_vec));
        subject.into_issuer(chain)
    }

    fn precert_signer(&self, parent: &Issuer, level: usize) -> PrecertSigner {
        let subject = self.subject("precertificate signing", level, Role::PrecertSigning);
        let certificate = certify(&parent.identity, &subject, self.spec.validity);
        PrecertSigner { certificate, identity: Arc::new(subject.identity) }
    }

    fn subject(&self, what: &str, level: usize, role: Role) -> Subject {
        let key = ThrowawayKey::derive(self.seed, self.spec.algorithm, what, level as u64);
        let mut prefix = [0; 8];
        self.seed.fill(&format!("serial of {what}"), level as u64, &mut prefix);
        let common_name = format!("hammer {what} {level} {} {}", self.spec.algorithm, self.tag);
        let key_id = spki::key_id(&key.spki_der()[spki::prefix_length(self.spec.algorithm)..]);
        let identity = SignerIdentity {
            name: name::authority_name(&common_name),
            key_id: Some(key_id.to_vec()),
            walking: key.walking().cloned(),
            key: Box::new(key),
        };
        Subject { identity, role, serial: tbs::serial(&prefix, level as u64) }
    }
}

impl Subject {
    fn into_issuer(self, chain: Vec<Vec<u8>>) -> Issuer {
        Issuer { identity: Arc::new(self.identity), chain, precert_signer: None }
    }
}

fn certify(issuer: &SignerIdentity, subject: &Subject, validity: Validity) -> Vec<u8> {
    let signature: Algorithm = issuer.key.algorithm();
    let tbs = Tbs {
        serial: subject.serial,
        signature,
        issuer: &issuer.name,
        validity,
        not_after: validity.not_after(),
    };
    let to_sign = Der::build(|der| {
        tbs.write(
            der,
            |der| der.raw(&subject.identity.name),
            |der| der.raw(subject.identity.key.spki_der()),
            |der| write_extensions(der, subject, issuer.key_id.as_deref()),
        );
    });
    let mut certificate = Vec::new();
    tbs::write_certificate(&to_sign, issuer.key.as_ref(), &mut certificate);
    certificate
}

fn write_extensions(der: &mut Der, subject: &Subject, authority_key_id: Option<&[u8]>) {
    extension::key_usage_of_authority(der);
    let path_length = match subject.role {
        Role::Root => None,
        Role::Intermediate { path_length } => {
            extension::extended_key_usage(der, &[oid::SERVER_AUTH, oid::CLIENT_AUTH]);
            Some(path_length)
        }
        Role::PrecertSigning => {
            extension::extended_key_usage(der, &[oid::PRECERTIFICATE_SIGNING]);
            Some(0)
        }
    };
    extension::basic_constraints_of_authority(der, path_length);
    if let Some(key_id) = &subject.identity.key_id {
        extension::subject_key_identifier(der, key_id);
    }
    if let Some(key_id) = authority_key_id {
        extension::authority_key_identifier(der, key_id);
    }
}

const DEEPEST: usize = 8;
