//! The order and content of a leaf's TBSCertificate, encoded from nothing: what templates are made from, and held against.

use crate::authority::SignerIdentity;
use crate::der::Der;
use crate::name::LeafDomain;
use crate::profile::Profile;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::subject_key::SubjectKeys;
use crate::tbs::{self, Tbs};
use crate::validity::Validity;
use crate::{extension, oid, spki};

/// What is common to all leaves of a template.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) seed: Seed,
    pub(super) subject_keys: SubjectKeys,
    pub(super) profile: Profile,
    pub(super) validity: Validity,
    pub(super) shape: Shape,
}

impl Layout {
    pub(super) fn new(seed: &Seed, profile: Profile, validity: Validity, shape: Shape) -> Self {
        let subject_keys = SubjectKeys::new(seed, profile.subject_key);
        Self { seed: seed.clone(), subject_keys, profile, validity, shape }
    }

    /// The TBSCertificate of `seq` with that last valid second, in the name of this signer, with the places of its fields.
    pub(super) fn encode(&self, seq: u64, not_after: u64, signer: &SignerIdentity, poisoned: bool) -> Der {
        let mut subject_key = Vec::new();
        self.subject_keys.write_slowly(seq, &mut subject_key);
        let domain = LeafDomain::new(&self.seed, seq);
        let tbs = Tbs {
            serial: tbs::serial(&tbs::serial_prefix(&self.seed), seq),
            signature: signer.key.algorithm(),
            issuer: &signer.name,
            validity: self.validity,
            not_after,
        };
        let mut der = Der::default();
        tbs.write(
            &mut der,
            |der| domain.write_subject(der),
            |der| self.subject_keys.write_spki(der, &subject_key),
            |der| {
                self.write_extensions(der, &domain, &spki::key_id(&subject_key), signer.key_id.as_deref());
                if poisoned {
                    extension::poison(der, self.shape.critical_poison);
                }
            },
        );
        der
    }

    fn write_extensions(
        &self,
        der: &mut Der,
        domain: &LeafDomain,
        subject_key_id: &[u8; 20],
        authority_key_id: Option<&[u8]>,
    ) {
        extension::key_usage_of_leaf(der, self.profile.subject_key);
        let purposes = [oid::SERVER_AUTH, oid::CLIENT_AUTH];
        extension::extended_key_usage(der, &purposes[usize::from(!self.shape.server_auth)..]);
        extension::basic_constraints_of_leaf(der);
        extension::subject_key_identifier(der, subject_key_id);
        if let Some(key_id) = authority_key_id {
            extension::authority_key_identifier(der, key_id);
        }
        extension::authority_info_access(der, HOST);
        extension::subject_alt_name(der, domain, self.profile.names);
        extension::certificate_policies(der, HOST);
        extension::crl_distribution_points(der, HOST);
        if self.shape.padding > 0 {
            extension::padding(der, self.shape.padding);
        }
    }
}

/// Where the issuing CA of leaves says that it publishes; nobody answers there (RFC 2606 section 2).
const HOST: &str = "issuing-ca.test";
