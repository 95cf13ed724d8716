//! The minter: every draw and every byte follows from (seed, stream, seq).

use std::path::PathBuf;
use std::sync::Arc;

use crate::Error;
use crate::authority::{Hierarchy, HierarchySpec, Issuer};
use crate::leaf::{Form, LeafTemplate};
use crate::minted::Minted;
use crate::profile::Profile;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::validity::Validity;

/// What a minter mints.
#[derive(Clone, Debug)]
pub struct MinterSpec {
    /// Everything derived comes from it.
    pub seed: Seed,
    /// Which leaves under the same authorities: minters of one seed and different streams share their roots, and no serial,
    /// name or subject key.
    pub stream: u64,
    /// Who issues the leaves.
    pub issuer: IssuerSource,
    /// The profiles with their weights; a weight of 0 leaves a profile out.
    pub mix: Vec<(Profile, u32)>,
    /// When the leaves are valid; where ends are spread, each leaf's is drawn.
    pub validity: Validity,
    /// How many of 100 chains are precertificates.
    pub precert_percent: u8,
    /// How many of 100 precertificates a Precertificate Signing Certificate signs; 0 with the user's own CA.
    pub precert_signing_percent: u8,
    /// Whether the root ends every chain. Logs do not need it.
    pub with_root: bool,
}

/// Where the issuing CA comes from.
#[derive(Clone, Debug)]
pub enum IssuerSource {
    /// From the seed, with throwaway keys.
    Derived(HierarchySpec),
    /// The user's own CA, with the safe signer.
    Files {
        /// PEM: the issuing certificate first, then those above it.
        chain: PathBuf,
        /// PEM: its private key.
        key: PathBuf,
    },
}

/// Mints the chain of any seq, in any order and from any thread: share one by reference or in an `Arc`.
#[derive(Debug)]
pub struct ChainMinter {
    leaf_seed: Seed,
    lines: Vec<Line>,
    total_weight: u64,
    precert_percent: u8,
    precert_signing_percent: u8,
    validity: Validity,
    hierarchy: Arc<Hierarchy>,
}

/// One profile of the mix.
#[derive(Debug)]
struct Line {
    /// The sum of the weights up to here, this one included.
    up_to: u64,
    certificate: Template,
    precert: Template,
    precert_by_signing_certificate: Option<Template>,
}

/// A leaf and what is sent after it.
#[derive(Debug)]
struct Template {
    leaf: LeafTemplate,
    above: Vec<Vec<u8>>,
}

impl ChainMinter {
    /// Derives or reads the hierarchy and builds the templates; with RSA this searches primes.
    ///
    /// # Errors
    /// Those of [`Hierarchy::derive`] and [`Hierarchy::from_files`], and [`Error::Spec`] for an empty mix, a share over
    /// 100, a hierarchy that is not as deep as a profile's chain, or precertificate signing with the user's own CA.
    pub fn new(spec: &MinterSpec) -> Result<Self, Error> {
        spec.check()?;
        let hierarchy = match &spec.issuer {
            IssuerSource::Derived(hierarchy) => Hierarchy::derive(&spec.seed, hierarchy)?,
            IssuerSource::Files { chain, key } => Hierarchy::from_files(chain, key)?,
        };
        Self::under(spec, Arc::new(hierarchy), Shape::default())
    }

    /// A minter under the same authorities, whose leaves are those of `spec` but for their shape. The issuer of `spec` does not
    /// matter.
    ///
    /// # Errors
    /// [`Error::Spec`], as [`ChainMinter::new`].
    pub fn shaped(&self, spec: &MinterSpec, shape: Shape) -> Result<Self, Error> {
        spec.check()?;
        Self::under(spec, self.hierarchy.clone(), shape)
    }

    fn under(spec: &MinterSpec, hierarchy: Arc<Hierarchy>, shape: Shape) -> Result<Self, Error> {
        let leaf_seed = spec.seed.child("leaves", spec.stream);
        let mut total_weight = 0;
        let mut lines = Vec::new();
        for (profile, weight) in spec.mix.iter().filter(|(_, weight)| *weight > 0) {
            total_weight += u64::from(*weight);
            let leaves = Leaves { spec, seed: &leaf_seed, hierarchy: &hierarchy, shape };
            lines.push(leaves.line(*profile, total_weight)?);
        }
        Ok(Self {
            leaf_seed,
            lines,
            total_weight,
            precert_percent: spec.precert_percent,
            precert_signing_percent: spec.precert_signing_percent,
            validity: spec.validity,
            hierarchy,
        })
    }

    /// Mints the chain of `seq` into `out`, replacing what it held: profile, kind, signer and end are drawn from (seed,
    /// stream, seq).
    pub fn mint(&self, seq: u64, out: &mut Minted) {
        let bytes = self.leaf_seed.derive("chain", seq);
        let template = self.template(&bytes);
        template.leaf.write(seq, self.validity.not_after_by(number(&bytes, END)), out);
        for certificate in &template.above {
            out.push(certificate);
        }
    }

    /// The certificates that the log must accept as roots, in PEM.
    pub fn roots_pem(&self) -> String {
        self.hierarchy.roots_pem()
    }

    /// The authorities over the leaves.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The last valid second of the leaf of `seq`, without minting it; seconds since the Unix epoch.
    pub fn not_after(&self, seq: u64) -> u64 {
        self.validity.not_after_by(number(&self.leaf_seed.derive("chain", seq), END))
    }

    /// When the leaves are valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    fn template(&self, bytes: &[u8; 32]) -> &Template {
        let number = |at| number(bytes, at);
        let weight = number(0) % self.total_weight;
        let line = &self.lines[self.lines.partition_point(|line| line.up_to <= weight)];
        let precert = number(8) % 100 < u64::from(self.precert_percent);
        let by_signing_certificate = number(16) % 100 < u64::from(self.precert_signing_percent);
        match (precert, by_signing_certificate, &line.precert_by_signing_certificate) {
            (false, _, _) => &line.certificate,
            (true, true, Some(template)) => template,
            (true, _, _) => &line.precert,
        }
    }
}

/// The draw at that place.
fn number(bytes: &[u8; 32], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

impl MinterSpec {
    fn check(&self) -> Result<(), Error> {
        let reason = if self.mix.iter().all(|(_, weight)| *weight == 0) {
            "no profile of the mix has a weight"
        } else if self.precert_percent > 100 || self.precert_signing_percent > 100 {
            "a share is over 100 percent"
        } else if self.precert_signing_percent > 0 && matches!(self.issuer, IssuerSource::Files { .. }) {
            "a CA from files does not certify a precertificate signing key, which the seed would make public"
        } else {
            return Ok(());
        };
        Err(Error::Spec { reason })
    }
}

/// What the lines of one minter have in common.
struct Leaves<'a> {
    spec: &'a MinterSpec,
    seed: &'a Seed,
    hierarchy: &'a Hierarchy,
    shape: Shape,
}

impl Leaves<'_> {
    fn line(&self, profile: Profile, up_to: u64) -> Result<Line, Error> {
        let issuer = self
            .hierarchy
            .issuer(profile.chain)
            .ok_or(Error::Spec { reason: "the hierarchy has fewer intermediates than a profile's chain" })?;
        let template = |form| {
            let validity = self.spec.validity;
            let leaf = LeafTemplate::shaped(self.seed, profile, issuer, form, validity, self.shape)?;
            Ok::<_, Error>(Template {
                leaf,
                above: certificates_above(self.spec, self.hierarchy, issuer, form),
            })
        };
        Ok(Line {
            up_to,
            certificate: template(Form::Certificate)?,
            precert: template(Form::Precert)?,
            precert_by_signing_certificate: match issuer.precert_signer() {
                Some(_) => Some(template(Form::PrecertBySigningCertificate)?),
                None => None,
            },
        })
    }
}

/// What is sent after the leaf.
fn certificates_above(spec: &MinterSpec, hierarchy: &Hierarchy, issuer: &Issuer, form: Form) -> Vec<Vec<u8>> {
    let signer = issuer.precert_signer().filter(|_| form == Form::PrecertBySigningCertificate);
    let mut above: Vec<Vec<u8>> = signer.map(|signer| signer.certificate().to_vec()).into_iter().collect();
    above.extend(issuer.chain().map(<[u8]>::to_vec));
    if spec.with_root {
        above.extend(
            hierarchy.roots().filter(|root| issuer.chain().all(|sent| sent != *root)).map(<[u8]>::to_vec),
        );
    }
    above
}

/// Where the draw of a leaf's end lies, behind those of profile, kind and signer.
const END: usize = 24;
