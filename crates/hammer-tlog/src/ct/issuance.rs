//! Whether the certificates of logged chains issued each other (RFC 6962 section 3.1: "the first certificate MUST certify the end-entity
//! certificate, each following certificate MUST directly certify the one preceding it"), of logs of which nothing else is known.

use std::collections::BTreeMap;
use std::mem;

use crate::ct::precert::precert_tbs;
use crate::ct::rfc6962::SignedEntryRef;
use crate::hash::{Hash, sha256};
use crate::keys::certificate::{Certificate, same_name};
use crate::keys::key::{KeyAlgorithm, KeyError, LogKey, MixedBatch, SignatureError};
use crate::keys::scheme::SignatureScheme;

/// Holds the chains of a log's entries against themselves: the names of issuers and subjects, the signatures, and what is logged of a
/// precertificate. Certificates above leaves repeat: each is read once, and each pair of them verified once, so that the signature over the leaf is what
/// an entry costs; those of several entries are verified together ([`ChainAudit::faults`]).
#[derive(Debug, Default)]
pub struct ChainAudit {
    issuers: BTreeMap<Hash, LoggedIssuer>,
    /// Whether the second certificate issued the first.
    links: BTreeMap<[Hash; 2], Result<(), ChainDefect>>,
    batch: MixedBatch,
    /// The entries whose signatures are in the batch, and why nothing is said of their chains although those hold.
    signed: Vec<(u64, Option<Unverified>)>,
    faults: Vec<(u64, ChainFault)>,
    verified: u64,
    unverified: BTreeMap<Unverified, u64>,
}

/// A certificate above leaves.
#[derive(Debug)]
struct LoggedIssuer {
    der: Vec<u8>,
    key: Result<LogKey, Unverified>,
}

/// One entry of a log, with what was submitted for it.
#[derive(Debug, Clone, Copy)]
pub struct LoggedChain<'a> {
    /// Its index.
    pub index: u64,
    /// What the log committed to.
    pub signed: SignedEntryRef<'a>,
    /// The certificate, or the precertificate as submitted.
    pub submitted: &'a [u8],
    /// SHA-256 of each certificate above it, from the issuer up.
    pub fingerprints: &'a [[u8; 32]],
}

/// What is wrong with a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// A certificate did not issue the one below it.
    #[error("certificate {position} of its chain did not issue the one below it: {why}")]
    NotIssued {
        /// The place of the issuer in the chain, whose leaf is 0.
        position: usize,
        /// How that shows.
        why: NotIssued,
    },
    /// Nothing stands above a certificate that another issued.
    #[error("no certificate stands above it in its chain, and it did not issue itself")]
    NoIssuer,
    /// What is logged of a precertificate names another key than its final issuer's.
    #[error("the log committed to another issuer's key than that of certificate {position} of its chain")]
    IssuerKeyHash {
        /// The place of the final issuer in the chain.
        position: usize,
    },
    /// What is logged of a precertificate is of another one.
    #[error("the log committed to another certificate than its precertificate is of")]
    Precertificate,
}

/// How it shows that a certificate did not issue another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotIssued {
    /// The other names somebody else.
    #[error("the issuer that is named there has another name")]
    Name,
    /// Its key did not sign the other.
    #[error("{0}")]
    Signature(SignatureError),
}

/// Why nothing is said of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unverified {
    /// A key or a signature is of an algorithm, or a size, that is not verified here, as SHA-1.
    Algorithm,
    /// A certificate cannot be read here.
    Unreadable,
    /// A certificate above it is not at hand: it is not served, or there are more than [`MOST_ISSUERS`].
    NotServed,
}

/// What a pair of certificates has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainDefect {
    NotIssued(NotIssued),
    Unverified(Unverified),
}

impl Unverified {
    /// Why, as a clause about the chains.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Algorithm => "a key or a signature is of an algorithm or a size that is not verified here",
            Self::Unreadable => "a certificate cannot be read here",
            Self::NotServed => "an issuer is not served, or there are too many",
        }
    }
}

impl ChainAudit {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the certificate of that fingerprint is known.
    pub fn knows(&self, fingerprint: &Hash) -> bool {
        self.issuers.contains_key(fingerprint)
    }

    /// Takes a certificate that stands above leaves; its fingerprint.
    pub fn issuer(&mut self, der: &[u8]) -> Hash {
        let fingerprint = sha256(der);
        self.issuers
            .entry(fingerprint)
            .or_insert_with(|| LoggedIssuer { der: der.to_vec(), key: key_of(der) });
        fingerprint
    }

    /// Takes an entry, whose issuers are known; of what the log does not serve nothing is said.
    pub fn add(&mut self, chain: &LoggedChain<'_>) {
        match self.hold(chain) {
            Ok(()) => {}
            Err(Ok(fault)) => self.faults.push((chain.index, fault)),
            Err(Err(why)) => *self.unverified.entry(why).or_default() += 1,
        }
    }

    /// What is wrong with chains that were taken since the last call, by the indexes of their entries.
    pub fn faults(&mut self) -> Vec<(u64, ChainFault)> {
        let verdicts = self.batch.verify().iter().zip(mem::take(&mut self.signed));
        for (verdict, (index, unverified)) in verdicts {
            match (verdict, unverified) {
                (Ok(()), None) => self.verified += 1,
                (Ok(()), Some(why)) => *self.unverified.entry(why).or_default() += 1,
                (Err(why), _) => self.faults.push((index, not_issued(1, NotIssued::Signature(*why)))),
            }
        }
        self.batch.clear();
        mem::take(&mut self.faults)
    }

    /// Chains of which each certificate issued the one below it.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Chains of which nothing is said, by why.
    pub fn unverified(&self) -> impl Iterator<Item = (Unverified, u64)> {
        self.unverified.iter().map(|(why, chains)| (*why, *chains))
    }

    /// Leaves the signature over the leaf to the batch.
    fn hold(&mut self, chain: &LoggedChain<'_>) -> Result<(), Result<ChainFault, Unverified>> {
        let leaf = Certificate::parse(chain.submitted).map_err(|_| Err(Unverified::Unreadable))?;
        let Some((issuer, _)) = chain.fingerprints.split_first() else {
            return match same_name(leaf.issuer, leaf.subject) {
                // A root that was submitted by itself.
                true => {
                    self.verified += 1;
                    Ok(())
                }
                false => Err(Ok(ChainFault::NoIssuer)),
            };
        };
        let issuer = self.issuers.get(&Hash(*issuer)).ok_or(Err(Unverified::NotServed))?;
        let certificate = Certificate::parse(&issuer.der).map_err(|_| Err(Unverified::Unreadable))?;
        if !same_name(leaf.issuer, certificate.subject) {
            return Err(Ok(not_issued(1, NotIssued::Name)));
        }
        if let SignedEntryRef::Precert { issuer_key_hash, tbs_certificate } = chain.signed {
            self.precertificate(chain, &certificate, issuer_key_hash, tbs_certificate)?;
        }
        // What cannot be told of a certificate further up does not hide what can be told of the leaf.
        let mut unverified = None;
        let pairs = chain.fingerprints.windows(2).map(|pair| [Hash(pair[0]), Hash(pair[1])]);
        for (pair, position) in pairs.zip(2..) {
            match known_link(&mut self.links, &self.issuers, pair) {
                Ok(()) => {}
                Err(ChainDefect::NotIssued(why)) => return Err(Ok(not_issued(position, why))),
                Err(ChainDefect::Unverified(why)) => unverified = Some(why),
            }
        }
        let key = issuer.key.as_ref().map_err(|why| Err(*why))?;
        let scheme = SignatureScheme::from_identifier(leaf.signature_algorithm);
        let scheme = scheme.ok_or(Err(Unverified::Algorithm))?;
        self.batch.add(key, scheme, leaf.tbs, leaf.signature);
        self.signed.push((chain.index, unverified));
        Ok(())
    }

    /// Holds what the log committed to of a precertificate against it, and against who issued it (RFC 6962 section 3.2).
    fn precertificate(
        &self,
        chain: &LoggedChain<'_>,
        issuer: &Certificate<'_>,
        issuer_key_hash: &[u8; 32],
        tbs_certificate: &[u8],
    ) -> Result<(), Result<ChainFault, Unverified>> {
        if !issuer.is_precert_signing() {
            if issuer.key_hash().0 != *issuer_key_hash {
                return Err(Ok(ChainFault::IssuerKeyHash { position: 1 }));
            }
            let tbs = precert_tbs(chain.submitted).map_err(|_| Err(Unverified::Unreadable))?;
            return match tbs == tbs_certificate {
                true => Ok(()),
                false => Err(Ok(ChainFault::Precertificate)),
            };
        }
        // How exactly its authority key identifier is rewritten, RFC 6962 leaves to each log.
        let issuer = chain.fingerprints.get(1).ok_or(Ok(ChainFault::IssuerKeyHash { position: 2 }))?;
        let issuer = self.issuers.get(&Hash(*issuer)).ok_or(Err(Unverified::NotServed))?;
        let issuer = Certificate::parse(&issuer.der).map_err(|_| Err(Unverified::Unreadable))?;
        match issuer.key_hash().0 == *issuer_key_hash {
            true => Ok(()),
            false => Err(Ok(ChainFault::IssuerKeyHash { position: 2 })),
        }
    }
}

const fn not_issued(position: usize, why: NotIssued) -> ChainFault {
    ChainFault::NotIssued { position, why }
}

/// Whether the second certificate of a pair issued the first, as it is known or found out.
fn known_link(
    links: &mut BTreeMap<[Hash; 2], Result<(), ChainDefect>>,
    issuers: &BTreeMap<Hash, LoggedIssuer>,
    pair: [Hash; 2],
) -> Result<(), ChainDefect> {
    if let Some(known) = links.get(&pair) {
        return *known;
    }
    let found = link(issuers, pair);
    if links.len() < MOST_LINKS {
        links.insert(pair, found);
    }
    found
}

/// Whether the second certificate of a pair issued the first.
fn link(issuers: &BTreeMap<Hash, LoggedIssuer>, pair: [Hash; 2]) -> Result<(), ChainDefect> {
    let not_served = ChainDefect::Unverified(Unverified::NotServed);
    let unreadable = |_| ChainDefect::Unverified(Unverified::Unreadable);
    let [subject, issuer] = pair.map(|fingerprint| issuers.get(&fingerprint).ok_or(not_served));
    let (subject, issuer) = (subject?, issuer?);
    let certificate = Certificate::parse(&subject.der).map_err(unreadable)?;
    let above = Certificate::parse(&issuer.der).map_err(unreadable)?;
    if !same_name(certificate.issuer, above.subject) {
        return Err(ChainDefect::NotIssued(NotIssued::Name));
    }
    let key = issuer.key.as_ref().map_err(|why| ChainDefect::Unverified(*why))?;
    let scheme = SignatureScheme::from_identifier(certificate.signature_algorithm);
    let scheme = scheme.ok_or(ChainDefect::Unverified(Unverified::Algorithm))?;
    let verdict = key.verify_scheme_once(scheme, certificate.tbs, certificate.signature);
    verdict.map_err(|why| ChainDefect::NotIssued(NotIssued::Signature(why)))
}

/// The key of a certificate. Of what cannot be read, or is of a size that a library does not verify, nothing is said: CAs of old have such.
fn key_of(der: &[u8]) -> Result<LogKey, Unverified> {
    let certificate = Certificate::parse(der).map_err(|_| Unverified::Unreadable)?;
    match LogKey::from_der(certificate.spki) {
        Ok(key) if key.algorithm() == KeyAlgorithm::Rsa && certificate.spki.len() > LARGEST_RSA => {
            Err(Unverified::Algorithm)
        }
        Ok(key) => Ok(key),
        Err(KeyError::Der(_) | KeyError::Malformed { .. }) => Err(Unverified::Unreadable),
        Err(_) => Err(Unverified::Algorithm),
    }
}

/// Certificates above leaves that are kept, of some 1.5 KB each; the greatest logs have a few thousand.
pub const MOST_ISSUERS: usize = 1 << 14;
/// Pairs of them that are remembered, of some 70 bytes each.
const MOST_LINKS: usize = 1 << 16;
/// More than the `SubjectPublicKeyInfo` of an RSA key of 8192 bits with an exponent of 8 bytes has; those of longer ones ring does not verify.
const LARGEST_RSA: usize = 1024 + 64;

#[cfg(test)]
mod tests;
