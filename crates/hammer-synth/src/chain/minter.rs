//! The minter: every draw and every byte follows from (seed, stream, seq).

use std::path::PathBuf;
use std::sync::Arc;

use ring::digest::{Context, SHA256};

use super::draw::ChainDraw;
use crate::above::Above;
use crate::authority::{Hierarchy, HierarchySpec, Issuer};
use crate::error::Error;
use crate::leaf::{Form, LeafTemplate};
use crate::minted::{Kind, Minted};
use crate::profile::Profile;
use crate::scratch::MintScratch;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::subject_key::SubjectKeyPair;
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

/// Mints the chain of any seq, in any order and from any thread: share one by reference or in an `Arc`, and give each thread
/// a [`MintScratch`].
///
/// Throwaway P-256 keys sign by nonces that walk (`hammer_p256`): the nonce of a seq follows from the seq and a hash over all
/// that the minter's leaves have in common (templates, draws, dates, shape). A minter signs one leaf for each seq, and so no
/// nonce ever signs two messages, be it under one key or under several: another stream, shape or date walks elsewhere, in
/// another run too. Whoever sees two signatures knows the keys all the same; they are public.
#[derive(Debug)]
pub struct ChainMinter {
    lines: Vec<Line>,
    total_weight: u64,
    draw: ChainDraw,
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
    above: Arc<Above>,
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
        let nonces = nonce_seed(&leaf_seed, &lines, spec);
        lines.iter_mut().flat_map(Line::templates_mut).for_each(|template| template.leaf.walk(&nonces));
        Ok(Self { lines, total_weight, draw: ChainDraw::new(&leaf_seed, spec), hierarchy })
    }

    /// Mints the chain of `seq` into `out`, replacing what it held: profile, kind, signer and end are drawn from (seed,
    /// stream, seq).
    pub fn mint(&self, seq: u64, scratch: &mut MintScratch, out: &mut Minted) {
        let template = self.template(seq);
        template.leaf.write(seq, self.draw.not_after(seq), scratch, out);
        out.set_above(&template.above);
    }

    /// The same chain with another signature: each leaf is encoded from nothing, its subject key is worked out by itself,
    /// and a P-256 key signs as RFC 6979 says. What [`ChainMinter::mint`] is held against.
    pub fn mint_slowly(&self, seq: u64, out: &mut Minted) {
        let template = self.template(seq);
        template.leaf.write_slowly(seq, self.draw.not_after(seq), out);
        out.set_above(&template.above);
    }

    /// The key pair that the leaf of `seq` certifies; none for an RSA key, to which nobody knows the private one.
    pub fn subject_key_pair(&self, seq: u64, scratch: &mut MintScratch) -> Option<SubjectKeyPair> {
        self.template(seq).leaf.subject_key_pair(seq, scratch)
    }

    /// The certificates that the log must accept as roots, in PEM.
    pub fn roots_pem(&self) -> String {
        self.hierarchy.roots_pem()
    }

    /// The authorities over the leaves.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Which submission the chain of `seq` is for, without minting it.
    pub fn kind(&self, seq: u64) -> Kind {
        self.draw.kind(seq)
    }

    /// The last valid second of the leaf of `seq`, without minting it; seconds since the Unix epoch.
    pub fn not_after(&self, seq: u64) -> u64 {
        self.draw.not_after(seq)
    }

    /// When the leaves are valid.
    pub fn validity(&self) -> Validity {
        self.draw.validity()
    }

    fn template(&self, seq: u64) -> &Template {
        let weight = self.draw.weight(seq, self.total_weight);
        let line = &self.lines[self.lines.partition_point(|line| line.up_to <= weight)];
        match (self.draw.kind(seq), &line.precert_by_signing_certificate) {
            (Kind::X509, _) => &line.certificate,
            (Kind::Precert, Some(template)) if self.draw.by_signing_certificate(seq) => template,
            (Kind::Precert, _) => &line.precert,
        }
    }
}

impl Line {
    fn templates(&self) -> impl Iterator<Item = &Template> {
        [&self.certificate, &self.precert].into_iter().chain(&self.precert_by_signing_certificate)
    }

    fn templates_mut(&mut self) -> impl Iterator<Item = &mut Template> {
        [&mut self.certificate, &mut self.precert].into_iter().chain(&mut self.precert_by_signing_certificate)
    }
}

/// What the nonces of a minter follow from, beside the seq: all that decides what it signs for a seq.
fn nonce_seed(leaf_seed: &Seed, lines: &[Line], spec: &MinterSpec) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(&leaf_seed.derive("nonces", 0));
    context.update(&[spec.precert_percent, spec.precert_signing_percent]);
    context.update(&spec.validity.last_not_after().to_be_bytes());
    for line in lines {
        context.update(&line.up_to.to_be_bytes());
        for signed in line.templates().map(|template| template.leaf.signed()) {
            context.update(&(signed.len() as u64).to_be_bytes());
            context.update(signed);
        }
    }
    let mut seed = [0; 32];
    seed.copy_from_slice(context.finish().as_ref());
    seed
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
        let above = Arc::new(self.above(issuer, Form::Certificate));
        let template = |form, above: &Arc<Above>| {
            let validity = self.spec.validity;
            let leaf = LeafTemplate::new(self.seed, profile, issuer, form, validity, self.shape)?;
            Ok::<_, Error>(Template { leaf, above: above.clone() })
        };
        let form = Form::PrecertBySigningCertificate;
        Ok(Line {
            up_to,
            certificate: template(Form::Certificate, &above)?,
            precert: template(Form::Precert, &above)?,
            precert_by_signing_certificate: match issuer.precert_signer() {
                Some(_) => Some(template(form, &Arc::new(self.above(issuer, form)))?),
                None => None,
            },
        })
    }

    /// What is sent after the leaf.
    fn above(&self, issuer: &Issuer, form: Form) -> Above {
        let signer = issuer.precert_signer().filter(|_| form == Form::PrecertBySigningCertificate);
        let mut above: Vec<Vec<u8>> =
            signer.map(|signer| signer.certificate().to_vec()).into_iter().collect();
        above.extend(issuer.chain().map(<[u8]>::to_vec));
        if self.spec.with_root {
            let unsent = self.hierarchy.roots().filter(|root| issuer.chain().all(|sent| sent != *root));
            above.extend(unsent.map(<[u8]>::to_vec));
        }
        let above = Above::new(above);
        let mut roots = self.hierarchy.roots();
        match (roots.next(), roots.next()) {
            (Some(only), None) => above.up_to(only),
            _ => above,
        }
    }
}
