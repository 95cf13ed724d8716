//! What the log accepts: a chain that leads, in the order it was sent, to one of the roots (RFC 6962 section 3.1).

mod authority;
pub(crate) mod certificate;
mod date;
mod known;

use std::{
    collections::HashMap,
    fmt::Display,
    sync::{Arc, PoisonError, RwLock},
};

use hammer_tlog::logs::merkle::{Hash, sha256};

use super::signature::{checks::OpenSignature, fixed_keys::FixedKeys};

pub(crate) use authority::Authority;
use certificate::{Certificate, OID_POISON};
use known::KnownChains;

/// Why a chain was refused, in TesseraCT's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChainRefusal(pub String);

/// Checks chains against the roots, and remembers the issuers that it has found good.
#[derive(Debug)]
pub struct Validator {
    roots: Vec<Arc<Authority>>,
    policy: Policy,
    keys: FixedKeys,
    /// Verified issuer chains by the fingerprints of what was sent above the leaf.
    paths: RwLock<HashMap<Vec<Hash>, Arc<Path>>>,
    /// Some of them, by what was sent.
    known: KnownChains,
}

/// Which leaves are wanted at all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Policy {
    /// Inclusive, seconds since the Unix epoch.
    pub(crate) not_after_start_s: Option<i64>,
    /// Exclusive, seconds since the Unix epoch.
    pub(crate) not_after_limit_s: Option<i64>,
    pub(crate) reject_expired: bool,
    pub(crate) reject_unexpired: bool,
}

/// The certificates above a leaf, its issuer first and the root last.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) authorities: Vec<Arc<Authority>>,
}

/// A leaf that passed, with the path that it passed by.
#[derive(Debug)]
pub(crate) struct Validated<'a> {
    pub(crate) leaf: Certificate<'a>,
    pub(crate) path: Arc<Path>,
}

impl ChainRefusal {
    /// Why there is no path from the leaf of these certificates, which are told by their SHA-256.
    pub(crate) fn of_path(reason: &impl Display, chain: impl Iterator<Item = Hash>) -> Self {
        let links: Vec<String> =
            chain.map(|der| format!("https://crt.sh/?sha256={}", der.to_hex())).collect();
        failed(&Self(format!("failed to verify chain: {reason}: {}", links.join(", "))))
    }
}

impl Validator {
    /// A validator of these roots, in DER, that wants every leaf.
    ///
    /// # Errors
    /// A root that is no certificate.
    pub fn new(roots: &[Vec<u8>]) -> Result<Self, ChainRefusal> {
        Self::with_policy(roots, Policy::default())
    }

    pub(crate) fn with_policy(roots: &[Vec<u8>], policy: Policy) -> Result<Self, ChainRefusal> {
        let roots = roots.iter().map(|der| Authority::parse(der)).collect::<Result<Vec<_>, _>>()?;
        let keys = FixedKeys::default();
        Ok(Self { roots, policy, keys, paths: RwLock::default(), known: KnownChains::default() })
    }

    pub(crate) fn roots(&self) -> &[Arc<Authority>] {
        &self.roots
    }

    /// Whether the log would accept these certificates, leaf first, as a chain or as a precertificate's chain.
    ///
    /// # Errors
    /// The reason for a refusal.
    pub fn check(&self, chain: &[Vec<u8>], precert: bool, now_s: i64) -> Result<(), ChainRefusal> {
        self.validate(chain, precert, now_s).map(drop)
    }

    pub(crate) fn validate<'a>(
        &self,
        chain: &'a [Vec<u8>],
        precert: bool,
        now_s: i64,
    ) -> Result<Validated<'a>, ChainRefusal> {
        let (leaf, above) =
            chain.split_first().ok_or_else(|| ChainRefusal("empty certificate chain".into()))?;
        let leaf = parse(leaf).map_err(|refusal| failed(&refusal))?;
        self.policy.check(&leaf, now_s).map_err(|refusal| failed(&refusal))?;
        let path = self
            .path(&leaf, above)
            .map_err(|reason| ChainRefusal::of_path(&reason, chain.iter().map(|der| sha256(der))))?;
        match (poison(&leaf)?, precert) {
            (true, true) | (false, false) => Ok(Validated { leaf, path }),
            // Go prints the type of its flag here, and so do recorded answers.
            _ => Err(ChainRefusal("cert / precert mismatch: bool".into())),
        }
    }

    /// A leaf that is as good as its signature, below a path that is known already. None where there is more to ask, or
    /// anything amiss: [`Validator::validate`] then says what.
    pub(crate) fn candidate<'a>(
        &self,
        leaf: &'a [u8],
        path: Arc<Path>,
        precert: bool,
        now_s: i64,
    ) -> Option<(Validated<'a>, OpenSignature<'a>)> {
        let leaf = parse(leaf).ok()?;
        self.policy.check(&leaf, now_s).ok()?;
        let signature = path.authorities.first()?.open_signature(&leaf, &self.keys)?;
        (poison(&leaf) == Ok(precert)).then_some((Validated { leaf, path }, signature))
    }

    /// The path for which the certificates above a leaf, in base64, are known.
    pub(crate) fn known_path<T: AsRef<str>>(&self, above: &[T]) -> Option<Arc<Path>> {
        self.known.path(above)
    }

    /// Makes a verified path known by the certificates that were sent above its leaf, in base64.
    pub(crate) fn remember<T: AsRef<str>>(&self, above: &[T], path: &Arc<Path>) {
        self.known.remember(above, path);
    }

    /// The verified path of a leaf: its signature is checked every time, the issuers' once.
    fn path(&self, leaf: &Certificate<'_>, above: &[Vec<u8>]) -> Result<Arc<Path>, ChainRefusal> {
        if above.is_empty() {
            return self.path_of_lone_leaf(leaf);
        }
        let fingerprints: Vec<Hash> = above.iter().map(|der| sha256(der)).collect();
        let known = self.paths.read().unwrap_or_else(PoisonError::into_inner).get(&fingerprints).cloned();
        let path = match &known {
            Some(path) => Arc::clone(path),
            None => Arc::new(self.verified_path(&fingerprints, above)?),
        };
        path.signed(leaf, &self.keys)?;
        if known.is_none() {
            let mut paths = self.paths.write().unwrap_or_else(PoisonError::into_inner);
            if paths.len() >= MAX_PATHS {
                paths.clear();
            }
            paths.insert(fingerprints, Arc::clone(&path));
        }
        Ok(path)
    }

    fn path_of_lone_leaf(&self, leaf: &Certificate<'_>) -> Result<Arc<Path>, ChainRefusal> {
        if self.roots.iter().any(|root| root.der == leaf.der) {
            return Ok(Arc::new(Path { authorities: Vec::new() }));
        }
        self.complete(leaf, &[]).map(Arc::new)
    }

    fn verified_path(&self, fingerprints: &[Hash], above: &[Vec<u8>]) -> Result<Path, ChainRefusal> {
        let sent = above.iter().map(|der| Authority::parse(der)).collect::<Result<Vec<_>, _>>()?;
        for (subject, issuer) in sent.iter().zip(&sent[1..]) {
            issuer.signed(&parse(&subject.der)?, &self.keys)?;
        }
        let last = &sent[sent.len() - 1];
        if self.roots.iter().any(|root| root.fingerprint == fingerprints[fingerprints.len() - 1]) {
            return Path { authorities: sent }.without_repetition();
        }
        self.complete(&parse(&last.der)?, &sent)
    }

    /// The path that ends in the root which signed `last`.
    fn complete(&self, last: &Certificate<'_>, sent: &[Arc<Authority>]) -> Result<Path, ChainRefusal> {
        let mut reason = ChainRefusal("x509: certificate signed by unknown authority".into());
        for root in self.roots.iter().filter(|root| root.subject == last.issuer) {
            match root.signed(last, &self.keys) {
                Ok(()) => {
                    let authorities = sent.iter().chain([root]).cloned().collect();
                    return Path { authorities }.without_repetition();
                }
                Err(refusal) => reason = refusal,
            }
        }
        Err(reason)
    }
}

impl Path {
    fn signed(&self, leaf: &Certificate<'_>, keys: &FixedKeys) -> Result<(), ChainRefusal> {
        match self.authorities.first() {
            Some(issuer) => issuer.signed(leaf, keys),
            None => Ok(()),
        }
    }

    /// Refuses a path that passes the same name and key twice, as Go's verifier does.
    fn without_repetition(self) -> Result<Self, ChainRefusal> {
        let repeated = self.authorities.iter().enumerate().any(|(place, one)| {
            self.authorities[..place]
                .iter()
                .any(|other| one.subject == other.subject && one.spki == other.spki)
        });
        match repeated {
            true => {
                Err(ChainRefusal("no RFC compliant path to root found when trying to validate chain".into()))
            }
            false => Ok(self),
        }
    }
}

impl<'a> Validated<'a> {
    /// A chain taken as it was sent, without a look at names, rights or signatures.
    pub(crate) fn unchecked(chain: &'a [Vec<u8>]) -> Result<Self, ChainRefusal> {
        let (leaf, above) =
            chain.split_first().ok_or_else(|| ChainRefusal("empty certificate chain".into()))?;
        let authorities = above.iter().map(|der| Authority::parse(der)).collect::<Result<_, _>>()?;
        Ok(Self { leaf: parse(leaf)?, path: Arc::new(Path { authorities }) })
    }
}

impl Policy {
    fn check(&self, leaf: &Certificate<'_>, now_s: i64) -> Result<(), ChainRefusal> {
        let not_after = leaf.not_after_s;
        let refusal = match self {
            Self { not_after_start_s: Some(start), .. } if not_after < *start => {
                format!("certificate NotAfter ({not_after}) < {start}")
            }
            Self { not_after_limit_s: Some(limit), .. } if not_after >= *limit => {
                format!("certificate NotAfter ({not_after}) >= {limit}")
            }
            Self { reject_expired: true, .. } if now_s > not_after => "rejecting expired certificate".into(),
            Self { reject_unexpired: true, .. } if now_s <= not_after => {
                "rejecting unexpired certificate".into()
            }
            _ => return Ok(()),
        };
        Err(ChainRefusal(refusal))
    }
}

fn parse(der: &[u8]) -> Result<Certificate<'_>, ChainRefusal> {
    Certificate::parse(der).map_err(|error| ChainRefusal(format!("x509.ParseCertificate(): {error}")))
}

fn failed(refusal: &ChainRefusal) -> ChainRefusal {
    ChainRefusal(format!("chain failed to validate: {refusal}"))
}

/// Whether the certificate carries a good poison; a malformed one is an error of its own.
fn poison(leaf: &Certificate<'_>) -> Result<bool, ChainRefusal> {
    match leaf.extension(OID_POISON) {
        None => Ok(false),
        Some(poison) if poison.critical && poison.value == [5, 0] => Ok(true),
        Some(poison) => {
            let value: Vec<String> = poison.value.iter().map(u8::to_string).collect();
            Err(ChainRefusal(format!(
                "precert test failed: CT poison ext is not critical or invalid: \
                 {{1.3.6.1.4.1.11129.2.4.3 {} [{}]}}",
                poison.critical,
                value.join(" ")
            )))
        }
    }
}

/// Verified issuer chains kept; a load has a handful.
const MAX_PATHS: usize = 4096;
