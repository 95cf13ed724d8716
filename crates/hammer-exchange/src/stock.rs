//! The tokens that are at hand: who fetches or reads them puts them here, and operations take them, one after another.

mod shard;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammer_net::{Secret, SecretError};
use hammer_oauth::jwt;
use http::HeaderValue;

pub use shard::ShardTokens;

/// A token that can be sent, in whose name it is, and how long it is good. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct StockedToken {
    /// The token.
    pub token: Secret,
    /// The value of the header that has it.
    pub bearer: HeaderValue,
    /// Whom it is of; none where that is asked by nobody, or it does not say so.
    pub subject: Option<Arc<str>>,
    /// Whether that is an e-mail address by the token's own word (`email`), and not a name of another kind, or one that somebody else stated.
    pub is_address: bool,
    /// The first second since the Unix epoch at which it is no longer good, by this machine's clock; none where nobody said.
    pub expires_at: Option<i64>,
}

/// Whom tokens are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSubject {
    /// Nobody asks.
    Unasked,
    /// The plan says so, of all of them.
    Stated(Arc<str>),
    /// Each token says it itself, and one that does not is of no use.
    OfToken,
}

/// Why a token is of no use. A fragment that completes "failed to ..."; it never says the token.
#[derive(Debug, thiserror::Error)]
pub enum UselessToken {
    /// It cannot stand in a header.
    #[error(transparent)]
    Unsendable(#[from] SecretError),
    /// It says of nobody whom it is of.
    #[error("find out whose it is: {0}")]
    Nobody(String),
}

impl StockedToken {
    /// The token, which is good until `expires_at`, or as long as it says itself where nobody else does.
    ///
    /// # Errors
    /// A token that cannot be sent, or is of nobody where that matters.
    pub fn of(token: Secret, subject: &TokenSubject, expires_at: Option<i64>) -> Result<Self, UselessToken> {
        let parsed = jwt::parse(token.expose());
        let own_end = parsed.as_ref().ok().and_then(|read| read.claims.times.expires_at);
        let address = parsed.as_ref().ok().and_then(|read| read.claims.email().map(str::to_owned));
        let subject = match subject {
            TokenSubject::Unasked => None,
            TokenSubject::Stated(subject) => Some(subject.clone()),
            TokenSubject::OfToken => {
                let read = parsed.map_err(|why| UselessToken::Nobody(format!("failed to {why}")))?;
                let identity = read.claims.identity().map(Arc::from);
                let nobody = || UselessToken::Nobody("the token has neither `email` nor `sub`".to_owned());
                Some(identity.ok_or_else(nobody)?)
            }
        };
        let bearer = token.bearer()?;
        let is_address = address.is_some() && subject.as_deref() == address.as_deref();
        Ok(Self { token, bearer, subject, is_address, expires_at: expires_at.or(own_end) })
    }

    /// The same token, whose end nobody minds.
    #[must_use]
    pub fn without_end(self) -> Self {
        Self { expires_at: None, ..self }
    }

    /// Whether it is good at `unix_ms`, and a moment longer, so that it is still good when it arrives.
    pub(crate) fn is_good_at(&self, unix_ms: i64) -> bool {
        self.expires_at.is_none_or(|end| unix_ms.saturating_add(UNDER_WAY_MS) < end.saturating_mul(1000))
    }
}

/// The tokens at hand, of one purpose. Shards share it.
#[derive(Debug)]
pub struct TokenStock {
    tokens: Mutex<Arc<[StockedToken]>>,
    /// How often they were replaced, so that a shard need not look.
    generation: AtomicU64,
    /// Operations that had to go without.
    pub(crate) without: AtomicU64,
    /// What kept the next one from coming, the last time.
    trouble: Mutex<Option<String>>,
    /// Whom the first of them is of.
    subject: Option<Arc<str>>,
}

impl TokenStock {
    /// These tokens.
    pub fn new(tokens: Vec<StockedToken>) -> Arc<Self> {
        let subject = tokens.first().and_then(|token| token.subject.clone());
        let (generation, without) = (AtomicU64::new(1), AtomicU64::new(0));
        Arc::new(Self {
            tokens: Mutex::new(tokens.into()),
            generation,
            without,
            trouble: Mutex::default(),
            subject,
        })
    }

    /// Whom tokens are of, as far as that is known before the first is used.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last second of all of them: none where one lasts forever.
    pub fn last_end(&self) -> Option<i64> {
        let tokens = self.tokens();
        let ends: Option<Vec<i64>> = tokens.iter().map(|token| token.expires_at).collect();
        ends?.into_iter().max()
    }

    /// Puts others in their place.
    pub fn replace(&self, tokens: Vec<StockedToken>) {
        *held(&self.tokens) = tokens.into();
        *held(&self.trouble) = None;
        // Who sees the number sees the tokens: they are behind a lock of their own.
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// What keeps the next one from coming; it says no secret.
    pub fn hindered(&self, trouble: impl Into<String>) {
        *held(&self.trouble) = Some(trouble.into());
    }

    pub(crate) fn tokens(&self) -> Arc<[StockedToken]> {
        held(&self.tokens).clone()
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        held(&self.trouble).clone()
    }

    pub(crate) fn has_good_at(&self, unix_ms: i64) -> bool {
        self.tokens().iter().any(|token| token.is_good_at(unix_ms))
    }

    pub(crate) fn without(&self) -> u64 {
        // It is a count, and nothing is read because of it.
        self.without.load(Ordering::Relaxed)
    }
}

/// What is behind the lock is replaced whole, so that a panic elsewhere leaves nothing halfway.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Longer than most requests are under way, and short beside the life of any token.
const UNDER_WAY_MS: i64 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_as_long_as_it_arrives_before_its_end() {
        let token = |expires_at| {
            StockedToken::of(Secret::new("opaque").unwrap(), &TokenSubject::Unasked, expires_at).unwrap()
        };
        let until = token(Some(100));
        assert!(until.is_good_at(99_499) && !until.is_good_at(99_500));
        assert!(token(None).is_good_at(i64::MAX));
        let stock = TokenStock::new(vec![token(Some(100)), token(Some(90))]);
        assert_eq!(stock.last_end(), Some(100));
        assert!(stock.has_good_at(98_000) && !stock.has_good_at(100_000));
        stock.replace(vec![token(Some(100)), token(None)]);
        assert_eq!(stock.last_end(), None);
    }

    #[test]
    fn a_token_is_of_an_address_only_where_it_says_so_itself_of_whom_it_is() {
        let of = |token: &str, subject: &TokenSubject| {
            StockedToken::of(Secret::new(token).unwrap(), subject, None).unwrap()
        };
        let account = "system:serviceaccount:ci:signer";
        assert!(of(WITH_ADDRESS, &TokenSubject::OfToken).is_address);
        assert!(of(WITH_ADDRESS, &TokenSubject::Stated("ci@hammer.test".into())).is_address);
        assert!(!of(WITH_ADDRESS, &TokenSubject::Stated(account.into())).is_address);
        let token = of(WITHOUT_ADDRESS, &TokenSubject::OfToken);
        assert_eq!((token.subject.as_deref(), token.is_address), (Some(account), false));
    }

    /// `{"alg":"none"}`, `{"sub":"system:serviceaccount:ci:signer","email":"ci@hammer.test"}`, `signature`.
    const WITH_ADDRESS: &str = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6Y2k6c2lnbmVyIiwiZW1haWwiOiJjaUBoYW1tZXIudGVzdCJ9.c2lnbmF0dXJl";
    /// The same without `email`.
    const WITHOUT_ADDRESS: &str =
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6Y2k6c2lnbmVyIn0.c2lnbmF0dXJl";

    #[test]
    fn a_token_that_is_of_nobody_is_refused_where_that_matters_and_not_shown() {
        let canary = || Secret::new("canary-token").unwrap();
        assert_eq!(StockedToken::of(canary(), &TokenSubject::Unasked, None).unwrap().subject, None);
        let stated = StockedToken::of(canary(), &TokenSubject::Stated("me".into()), None).unwrap();
        assert_eq!(stated.subject.as_deref(), Some("me"));
        let error = StockedToken::of(canary(), &TokenSubject::OfToken, None).unwrap_err();
        assert!(error.to_string().starts_with("find out whose it is: failed to read a token: "));
        assert!(!format!("{error:?}{error}{stated:?}").contains("canary"));
    }
}
