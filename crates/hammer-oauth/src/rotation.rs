//! An issuer that changes its key as time goes by: new tokens are signed with the new key, and each key stays published until the last
//! token that it signed is over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hammer_synth::Seed;

use crate::documents::{IssuerDocuments, IssuerUrlError};
use crate::jwt::{IdentityClaims, MintScratch, TokenMinter};
use crate::keys::{IssuerKeys, TokenAlgorithm};

/// An issuer whose key changes. What it publishes is told before anything is signed with it.
#[derive(Debug)]
pub struct RotatingIssuer {
    issuer: String,
    audience: String,
    seed: Seed,
    algorithm: TokenAlgorithm,
    /// Seconds.
    lifetime: i64,
    /// By what tokens are signed. Replaced whole.
    current: RwLock<Arc<TokenMinter>>,
    published: Mutex<PublishedKeys>,
    /// How many tokens were signed: no two tokens of a key may share a nonce.
    minted: AtomicU64,
}

/// The keys of an issuer that verifiers may need.
#[derive(Debug)]
struct PublishedKeys {
    /// How often the key was changed.
    rotation: u64,
    newest: IssuerKeys,
    /// Those before, the newest first, and the second in which the last of their tokens is over.
    retired: Vec<(IssuerKeys, i64)>,
}

/// What an issuer publishes from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// Its documents.
    pub documents: IssuerDocuments,
    /// The `kid` of what is signed next.
    pub key_id: String,
    /// How many keys are published.
    pub keys: usize,
    /// How many are published no more.
    pub gone: usize,
}

impl RotatingIssuer {
    /// The issuer of this name, whose first key is that of the seed, for those who look for `audience`; its tokens live for so many
    /// seconds.
    ///
    /// # Errors
    /// An issuer that is none.
    pub fn new(
        issuer: &str,
        audience: &str,
        (seed, algorithm): (Seed, TokenAlgorithm),
        lifetime: i64,
    ) -> Result<Self, IssuerUrlError> {
        let newest = IssuerKeys::derive(&seed, algorithm, 0);
        IssuerDocuments::new(issuer, &[&newest])?;
        let minter = TokenMinter::new(issuer, audience, newest.clone());
        Ok(Self {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            seed,
            algorithm,
            lifetime,
            current: RwLock::new(Arc::new(minter)),
            published: Mutex::new(PublishedKeys { rotation: 0, newest, retired: Vec::new() }),
            minted: AtomicU64::new(0),
        })
    }

    /// What it publishes at present.
    ///
    /// # Errors
    /// None, since its name is one.
    pub fn documents(&self) -> Result<IssuerDocuments, IssuerUrlError> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).documents(&self.issuer)
    }

    /// Changes the key at `now`. `publish` puts the documents where verifiers find them, and only then is anything signed with the
    /// new key. A key for [`TokenAlgorithm::Rs256`] takes a tenth of a second.
    ///
    /// # Errors
    /// None, since its name is one.
    pub fn rotate(
        &self,
        now: i64,
        publish: impl FnOnce(&IssuerDocuments),
    ) -> Result<Rotation, IssuerUrlError> {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let rotation = published.rotation + 1;
        let newest = IssuerKeys::derive(&self.seed, self.algorithm, rotation);
        let minter = TokenMinter::new(&self.issuer, &self.audience, newest.clone());
        let before = std::mem::replace(&mut published.newest, newest);
        // The last token of the old key is minted before this ends, in this second or the next.
        published.retired.insert(0, (before, now + self.lifetime + 1));
        published.rotation = rotation;
        let known = published.retired.len();
        published.retired.retain(|(_, over)| *over >= now);
        let gone = known - published.retired.len();
        let documents = published.documents(&self.issuer)?;
        publish(&documents);
        let key_id = minter.key_id().to_owned();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(minter);
        Ok(Rotation { documents, key_id, keys: published.retired.len() + 1, gone })
    }

    /// The token of somebody at `now`, by the key of that time; clocks that are `skew` seconds behind take it too.
    pub fn mint(&self, subject: &str, (now, skew): (i64, i64)) -> String {
        // Each number is taken once, and nothing else is told by it.
        let index = self.minted.fetch_add(1, Ordering::Relaxed);
        let minter = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let claims = IdentityClaims {
            subject,
            email: Some(subject),
            issued_at: now - skew,
            expires_at: now + self.lifetime,
            extra: &[],
        };
        let mut token = String::new();
        minter.mint(index, &claims, &mut MintScratch::default(), &mut token);
        token
    }
}

impl PublishedKeys {
    fn documents(&self, issuer: &str) -> Result<IssuerDocuments, IssuerUrlError> {
        let retired = self.retired.iter().map(|(keys, _)| keys);
        IssuerDocuments::new(issuer, &std::iter::once(&self.newest).chain(retired).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jwks::{ExpectedClaims, JwkSet, verify};
    use crate::jwt;

    const ISSUER: &str = "http://127.0.0.1:1";

    fn issuer(algorithm: TokenAlgorithm, lifetime: i64) -> RotatingIssuer {
        RotatingIssuer::new(ISSUER, "sigstore", (Seed::from_u64(1), algorithm), lifetime).unwrap()
    }

    fn is_believed(token: &str, documents: &IssuerDocuments, now: i64) -> bool {
        let keys = JwkSet::read(&documents.jwks).unwrap();
        let expected = ExpectedClaims { issuer: ISSUER, audience: "sigstore" };
        verify(token, &keys, expected, now).is_ok()
    }

    #[test]
    fn a_key_is_published_until_the_last_token_that_it_signed_is_over() {
        for algorithm in TokenAlgorithm::ALL {
            let issuer = issuer(algorithm, 100);
            let old = issuer.mint("a@b.c", (1_000, 60));
            let first = issuer.documents().unwrap();
            assert!(is_believed(&old, &first, 1_000));
            let rotation = issuer.rotate(1_010, |_| {}).unwrap();
            assert_eq!((rotation.keys, rotation.gone), (2, 0));
            assert_eq!(issuer.documents().unwrap(), rotation.documents);
            let new = issuer.mint("a@b.c", (1_010, 60));
            assert_eq!(jwt::parse(&new).unwrap().header.key_id.as_deref(), Some(rotation.key_id.as_str()));
            assert!(
                is_believed(&old, &rotation.documents, 1_011)
                    && is_believed(&new, &rotation.documents, 1_011)
            );
            assert!(!is_believed(&new, &first, 1_011), "who has not asked again knows no such key");
            // The last token of the first key may be of second 1,011.
            let rotation = issuer.rotate(1_111, |_| {}).unwrap();
            assert_eq!((rotation.keys, rotation.gone), (3, 0));
            let rotation = issuer.rotate(1_112, |_| {}).unwrap();
            assert_eq!((rotation.keys, rotation.gone), (3, 1));
            assert!(!is_believed(&old, &rotation.documents, 1_050), "its key is gone");
        }
    }

    #[test]
    fn nothing_is_signed_with_a_key_before_it_is_published() {
        let issuer = issuer(TokenAlgorithm::Es256, 100);
        let mut seen = false;
        issuer
            .rotate(1_000, |documents| {
                let token = issuer.mint("a@b.c", (1_000, 60));
                let first = IssuerKeys::derive(&Seed::from_u64(1), TokenAlgorithm::Es256, 0);
                assert_eq!(jwt::parse(&token).unwrap().header.key_id.as_deref(), Some(first.key_id()));
                assert!(is_believed(&token, documents, 1_000));
                seen = true;
            })
            .unwrap();
        assert!(seen);
    }

    #[test]
    fn what_is_no_issuer_is_refused() {
        let of = (Seed::from_u64(1), TokenAlgorithm::Es256);
        assert!(RotatingIssuer::new("nowhere", "sigstore", of, 1).is_err());
    }
}
