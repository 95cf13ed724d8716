//! Tokens that hammer mints itself, in the name of an issuer whose key it was given.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_net::{Secret, SecretError};
use hammer_oauth::{
    ExtraClaim, IdentityClaims, IssuerKeyError, IssuerKeys, MintScratch, TokenAlgorithm, TokenMinter,
};
use hammer_values::{Count, KeyConflict, PlanBlock, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stock::{StockedToken, TokenSubject, UselessToken};

/// Tokens (RFC 7519) that are minted before the run, and again before they are over: by a key of a file, or one that follows from the plan's
/// seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MintPlan {
    /// The PEM file of the issuer's key: P-256 (ES256) or RSA-2048 (RS256).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// What a key that follows from the seed signs with; a key of a file has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<MintAlgorithm>,
    /// The `kid`: the key's thumbprint (RFC 7638) unless another one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// The `iss`.
    pub issuer: String,
    /// The `aud`.
    pub audience: String,
    /// The `sub`; of several tokens each has its number behind it, `-0` and so on.
    #[serde(default = "subject")]
    pub subject: String,
    /// How many there are.
    #[serde(default = "one")]
    pub tokens: Count,
    /// How long each is good.
    #[serde(default = "lifetime")]
    pub lifetime: TimeSpan,
    /// What else each says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, Value>,
}

/// How a token is signed (RFC 7518 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MintAlgorithm {
    /// ECDSA over P-256 with SHA-256.
    #[default]
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
}

/// Why no tokens can be minted: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    /// The key is of no use.
    #[error(transparent)]
    Key(#[from] IssuerKeyError),
    /// A token cannot be sent.
    #[error("use a token that was minted: {0}")]
    Unsendable(#[from] SecretError),
    /// The same, as a stock says it.
    #[error("use a token that was minted: failed to {0}")]
    Useless(#[from] UselessToken),
}

/// Mints the tokens of a plan, and again those that will soon be over.
#[derive(Debug)]
pub struct TokenMint {
    plan: MintPlan,
    minter: TokenMinter,
    /// Each at its place, whatever its age.
    tokens: Vec<StockedToken>,
    /// How many were minted.
    minted: u64,
    scratch: MintScratch,
}

fn subject() -> String {
    "hammer".to_owned()
}

const fn one() -> Count {
    Count::ONE
}

const fn lifetime() -> TimeSpan {
    TimeSpan::from_secs(300)
}

impl MintPlan {
    /// The issuer's key: that of the file, or that of the seed.
    ///
    /// # Errors
    /// A file that cannot be read, or holds another kind of key.
    pub fn keys(&self, seed: u64) -> Result<IssuerKeys, IssuerKeyError> {
        let keys = match &self.key_file {
            Some(path) => IssuerKeys::of_file(path)?,
            None => IssuerKeys::of_seed(seed, self.algorithm.unwrap_or_default().into(), 0),
        };
        Ok(match &self.key_id {
            Some(key_id) => keys.named(key_id),
            None => keys,
        })
    }
}

impl MintPlan {
    /// As many as are minted again in the last quarter of their life, less a second.
    fn most_tokens(&self) -> usize {
        let seconds = self.lifetime.duration().as_secs_f64() / 4.0 - 1.0;
        ((seconds * MOST_A_SECOND as f64) as usize).min(MOST_TOKENS)
    }
}

impl From<MintAlgorithm> for TokenAlgorithm {
    fn from(algorithm: MintAlgorithm) -> Self {
        match algorithm {
            MintAlgorithm::Es256 => Self::Es256,
            MintAlgorithm::Rs256 => Self::Rs256,
        }
    }
}

impl PlanBlock for MintPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.key_file.is_some() && self.algorithm.is_some() {
            return Some(KeyConflict::at("algorithm", "key_file is given too, whose key has its own"));
        }
        if self.lifetime < LEAST_LIFETIME {
            return Some(KeyConflict::at(
                "lifetime",
                format!("a token has to be good for {LEAST_LIFETIME} at least"),
            ));
        }
        let most = self.most_tokens();
        if self.tokens.get() > most {
            let reason = format!(
                "there can be {most} at most of a lifetime of {}: more are not minted again in time",
                self.lifetime
            );
            return Some(KeyConflict::at("tokens", reason));
        }
        let own = self.claims.keys().find(|name| OWN_CLAIMS.contains(&name.as_str()))?;
        Some(KeyConflict::at("claims", format!("`{own}` is said already")))
    }
}

impl TokenMint {
    /// All tokens of `plan`, minted at `unix_ms` by `keys`.
    ///
    /// # Errors
    /// Where a token cannot be sent.
    pub fn new(plan: &MintPlan, keys: IssuerKeys, unix_ms: i64) -> Result<Self, MintError> {
        // Whatever else is minted by this key says something else, or says it at another time.
        let purpose = format!("{unix_ms} {}", serde_json::to_string(plan).unwrap_or_default());
        let minter = TokenMinter::new(&plan.issuer, &plan.audience, keys.with_nonces_for(purpose.as_bytes()));
        let mut mint = Self {
            plan: plan.clone(),
            minter,
            tokens: Vec::with_capacity(plan.tokens.get()),
            minted: 0,
            scratch: MintScratch::default(),
        };
        for place in 0..plan.tokens.get() {
            let token = mint.mint(place, unix_ms)?;
            mint.tokens.push(token);
        }
        Ok(mint)
    }

    /// The tokens as they are.
    pub fn tokens(&self) -> Vec<StockedToken> {
        self.tokens.clone()
    }

    /// Mints again what has had three quarters of its life by `unix_ms`, some hundreds of them at most; all tokens where there were any.
    pub(crate) fn renewed(&mut self, unix_ms: i64) -> Option<Result<Vec<StockedToken>, MintError>> {
        let quarter_ms = i64::try_from(self.plan.lifetime.duration().as_millis() / 4).unwrap_or(i64::MAX);
        let is_due = |token: &StockedToken| {
            token.expires_at.is_some_and(|end| end.saturating_mul(1000) - quarter_ms <= unix_ms)
        };
        let due = self.tokens.iter().enumerate().filter(|(_, token)| is_due(token));
        let mut due: Vec<(i64, usize)> =
            due.map(|(place, token)| (token.expires_at.unwrap_or(i64::MAX), place)).collect();
        if due.is_empty() {
            return None;
        }
        // What ends first.
        due.sort_unstable();
        due.truncate(MOST_AT_ONCE);
        for (_, place) in due {
            match self.mint(place, unix_ms) {
                Ok(token) => self.tokens[place] = token,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(self.tokens()))
    }

    fn mint(&mut self, place: usize, unix_ms: i64) -> Result<StockedToken, MintError> {
        let plan = &self.plan;
        let subject = match plan.tokens.get() {
            1 => plan.subject.clone(),
            _ => format!("{}-{place}", plan.subject),
        };
        let issued_at = unix_ms.div_euclid(1000);
        // A part of a second more, so that it is no shorter than it is said to be.
        let lifetime = plan.lifetime.duration().as_secs_f64().ceil() as i64;
        let extra: Vec<ExtraClaim<'_>> =
            plan.claims.iter().map(|(name, value)| ExtraClaim { name, value }).collect();
        let expires_at = issued_at.saturating_add(lifetime);
        let claims = IdentityClaims { subject: &subject, email: None, issued_at, expires_at, extra: &extra };
        let mut text = String::new();
        self.minter.mint(self.minted, &claims, &mut self.scratch, &mut text);
        self.minted += 1;
        Ok(StockedToken::of(Secret::new(&text)?, &TokenSubject::Unasked, Some(expires_at))?)
    }
}

/// What every token says.
const OWN_CLAIMS: [&str; 5] = ["iss", "aud", "sub", "iat", "exp"];
/// What an operation looks through where many are over.
const MOST_TOKENS: usize = 10_000;
const LEAST_LIFETIME: TimeSpan = TimeSpan::from_secs(10);
/// By RSA they take a tenth of a second, which whoever else looks at things beside the load waits for.
const MOST_AT_ONCE: usize = 100;
/// Whoever looks after tokens looks twice a second.
const MOST_A_SECOND: usize = 2 * MOST_AT_ONCE;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hammer_oauth::jwks::verify;
    use hammer_oauth::{ExpectedClaims, JwkSet, TokenClaims};

    use super::*;

    const EXPECTED: ExpectedClaims<'_> = ExpectedClaims { issuer: "http://issuer.test", audience: "gateway" };

    fn plan(json: &str) -> MintPlan {
        let text = format!(r#"{{"issuer":"http://issuer.test","audience":"gateway"{json}}}"#);
        let plan: MintPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(plan.conflict(), None);
        plan
    }

    fn verified(keys: &str, token: &StockedToken, now: i64) -> TokenClaims {
        let set = JwkSet::read(format!(r#"{{"keys":[{keys}]}}"#).as_bytes()).unwrap();
        verify(token.token.expose(), &set, EXPECTED, now).unwrap()
    }

    #[test]
    fn tokens_are_of_their_issuer_and_renewed_before_they_are_over() {
        let plan = plan(r#","tokens":3,"subject":"user","lifetime":"100s","claims":{"groups":["users"]}"#);
        let keys = plan.keys(7).unwrap();
        let jwk = keys.jwk();
        let mut mint = TokenMint::new(&plan, keys, 1_000_400).unwrap();
        for (place, token) in mint.tokens().iter().enumerate() {
            let claims = verified(&jwk, token, 1_050);
            assert_eq!(claims.identity(), Some(format!("user-{place}").as_str()));
            assert_eq!((claims.times.issued_at, claims.times.expires_at), (Some(1_000), Some(1_100)));
        }
        assert!(mint.renewed(1_074_999).is_none());
        let renewed = mint.renewed(1_075_000).unwrap().unwrap();
        assert!(renewed.iter().all(|token| token.expires_at == Some(1_175)));
        assert!(mint.renewed(1_075_500).is_none());
        verified(&jwk, &renewed[2], 1_170);
    }

    #[test]
    fn the_most_tokens_of_a_lifetime_are_all_minted_again_in_time() {
        let plan = plan(r#","tokens":300,"lifetime":"10s""#);
        let mut mint = TokenMint::new(&plan, plan.keys(7).unwrap(), 999).unwrap();
        for look in 1..200 {
            let now = 999 + 500 * look;
            let _ = mint.renewed(now);
            let soonest = mint.tokens().iter().filter_map(|token| token.expires_at).min().unwrap() * 1000;
            assert!(soonest - now > 500, "{look}: {} ms are left", soonest - now);
        }
    }

    #[test]
    fn two_mints_of_one_key_use_no_nonce_twice() {
        let mint = |subject: &str, at| {
            let plan = plan(&format!(r#","subject":"{subject}""#));
            let tokens = TokenMint::new(&plan, plan.keys(7).unwrap(), at).unwrap().tokens();
            // r, which follows from the nonce alone.
            let signature = tokens[0].token.expose().rsplit('.').next().unwrap().to_owned();
            signature[..42].to_owned()
        };
        let all = [mint("a", 1_000), mint("b", 1_000), mint("a", 2_000)];
        assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2], "{all:?}");
        assert_eq!(all[0], mint("a", 1_000));
    }

    #[test]
    fn keys_of_files_sign_as_their_kind_does() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hammer-synth/testdata");
        for (file, algorithm) in
            [("p256-pkcs8.pem", "ES256"), ("p256-sec1.pem", "ES256"), ("rsa2048-pkcs8.pem", "RS256")]
        {
            let key_file = folder.join(file).display().to_string();
            let plan = plan(&format!(r#","key_file":"{key_file}","key_id":"{file}""#));
            let keys = plan.keys(0).unwrap();
            assert_eq!((keys.algorithm().name(), keys.key_id()), (algorithm, file));
            let jwk = keys.jwk();
            let tokens = TokenMint::new(&plan, keys, 5_000).unwrap().tokens();
            assert_eq!(verified(&jwk, &tokens[0], 6).identity(), Some("hammer"));
        }
        for (file, part) in [("ed25519-pkcs8.pem", "P-256 or RSA-2048"), ("none.pem", "none.pem")] {
            let key_file = folder.join(file).display().to_string();
            let error = plan(&format!(r#","key_file":"{key_file}""#)).keys(0).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused_at_its_key() {
        for (more, key) in [
            (r#","key_file":"a","algorithm":"rs256""#, "algorithm"),
            (r#","tokens":10001,"lifetime":"1h""#, "tokens"),
            (r#","tokens":301,"lifetime":"10s""#, "tokens"),
            (r#","lifetime":"9s""#, "lifetime"),
            (r#","claims":{"exp":1}"#, "claims"),
        ] {
            let text = format!(r#"{{"issuer":"i","audience":"a"{more}}}"#);
            assert_eq!(serde_json::from_str::<MintPlan>(&text).unwrap().conflict().unwrap().key(), key);
        }
    }
}
