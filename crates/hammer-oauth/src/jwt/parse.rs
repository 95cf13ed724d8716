//! What a token says, whoever signed it.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Why a text is no token. Completes "failed to ..."; it never says the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is not three parts with dots between them.
    #[error("read a token: it is not of three parts, as a signed one is")]
    Parts,
    /// A part is not base64url.
    #[error("read a token: its {0} is not base64url")]
    Base64(&'static str),
    /// A part is not the JSON that it should be.
    #[error("read a token: its {0} is not a JSON object that holds what it should")]
    Json(&'static str),
}

/// A token that was read and not verified.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedToken<'a> {
    /// How it is signed.
    pub header: TokenHeader,
    /// What it says.
    pub claims: TokenClaims,
    /// What the signature is over: the first two parts, with the dot between them.
    pub(crate) signed: SignedPart<'a>,
    pub(crate) signature: Vec<u8>,
}

/// A token without its signature, which is not shown either.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedPart<'a>(pub(crate) &'a str);

impl fmt::Debug for SignedPart<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// How a token is signed (RFC 7515 section 4.1).
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct TokenHeader {
    /// The `alg`, as it stands there.
    #[serde(rename = "alg")]
    pub algorithm: String,
    /// The `kid`.
    #[serde(rename = "kid", default)]
    pub key_id: Option<String>,
}

/// What a token says (RFC 7519 section 4).
#[derive(Debug, Clone, PartialEq)]
pub struct TokenClaims {
    /// The `iss`.
    pub issuer: Option<String>,
    /// The `sub`.
    pub subject: Option<String>,
    /// The `aud`, which may be one text or several.
    pub audience: Vec<String>,
    /// Whom and how long it is for.
    pub times: TokenTimes,
    /// Everything that it says, these as well.
    pub all: Map<String, Value>,
}

/// When a token holds, in seconds since the Unix epoch; fractions are cut off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenTimes {
    /// The `iat`.
    pub issued_at: Option<i64>,
    /// The `nbf`.
    pub not_before: Option<i64>,
    /// The `exp`: the first second at which it is no longer good.
    pub expires_at: Option<i64>,
}

impl TokenTimes {
    /// Whether the token says that it is no longer good at `now`.
    pub fn is_expired_at(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }
}

/// Reads a token, and verifies nothing.
///
/// # Errors
/// A text that is no signed token in its compact form.
pub fn parse(token: &str) -> Result<ParsedToken<'_>, TokenError> {
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Parts)?;
    let (header, claims) = signed.split_once('.').ok_or(TokenError::Parts)?;
    if claims.contains('.') {
        return Err(TokenError::Parts);
    }
    Ok(ParsedToken {
        header: json(header, "header")?,
        claims: TokenClaims::of(json(claims, "claims")?).ok_or(TokenError::Json("claims"))?,
        signed: SignedPart(signed),
        signature: decode(signature, "signature")?,
    })
}

impl TokenClaims {
    /// Whom it is of, as Fulcio understands most issuers: its `email`, else its `sub`. None where it has neither.
    pub fn identity(&self) -> Option<&str> {
        self.email().or(self.subject.as_deref()).filter(|identity| !identity.is_empty())
    }

    /// The `email`, where it is a text.
    pub fn email(&self) -> Option<&str> {
        self.all.get("email").and_then(Value::as_str)
    }

    /// None where a claim that has a meaning is not of its type.
    fn of(all: Map<String, Value>) -> Option<Self> {
        let audience = match all.get("aud") {
            None => Vec::new(),
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => {
                several.iter().map(|one| Some(one.as_str()?.to_owned())).collect::<Option<_>>()?
            }
            Some(_) => return None,
        };
        let times = TokenTimes {
            issued_at: seconds(all.get("iat"))?,
            not_before: seconds(all.get("nbf"))?,
            expires_at: seconds(all.get("exp"))?,
        };
        let (issuer, subject) = (text(all.get("iss"))?, text(all.get("sub"))?);
        Some(Self { issuer, subject, audience, times, all })
    }
}

fn text(claim: Option<&Value>) -> Option<Option<String>> {
    claim.map(|claim| claim.as_str().map(str::to_owned)).map_or(Some(None), |text| text.map(Some))
}

/// A `NumericDate` (RFC 7519 section 2), which may have a fraction.
fn seconds(claim: Option<&Value>) -> Option<Option<i64>> {
    let Some(claim) = claim else { return Some(None) };
    // What is beyond an i64 is the last second that it can say.
    claim.as_i64().or_else(|| claim.as_f64().map(|seconds| seconds.floor() as i64)).map(Some)
}

fn json<T: DeserializeOwned>(part: &str, name: &'static str) -> Result<T, TokenError> {
    serde_json::from_slice(&decode(part, name)?).map_err(|_| TokenError::Json(name))
}

fn decode(part: &str, name: &'static str) -> Result<Vec<u8>, TokenError> {
    BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Base64(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = include_str!("../../testdata/oidc-token.jwt");

    fn token(claims: &str) -> String {
        let part = |text| BASE64_URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.{}", part(r#"{"alg":"none"}"#), part(claims), part("signature"))
    }

    #[test]
    fn a_recorded_token_says_who_and_how_long() {
        let read = parse(RECORDED.trim()).unwrap();
        assert_eq!((read.header.algorithm.as_str(), read.header.key_id.as_deref()), ("RS256", Some("k1")));
        assert_eq!(read.claims.issuer.as_deref(), Some("http://127.0.0.1:18888"));
        assert_eq!(read.claims.subject.as_deref(), Some("jdoe"));
        assert_eq!(read.claims.audience, ["sigstore"]);
        assert_eq!(read.claims.all["email"], "jdoe@redhat.com");
        assert_eq!(read.claims.identity(), Some("jdoe@redhat.com"));
        let times = read.claims.times;
        assert_eq!((times.issued_at, times.expires_at), (Some(1_795_243_690), Some(1_795_247_290)));
        assert!(!times.is_expired_at(1_795_247_289) && times.is_expired_at(1_795_247_290));
    }

    #[test]
    fn a_time_may_have_a_fraction_and_an_audience_several_names() {
        let token = token(r#"{"exp":1.9e9,"iat":12.5,"aud":["a","b"]}"#);
        let read = parse(&token).unwrap();
        assert_eq!(read.claims.times.expires_at, Some(1_900_000_000));
        assert_eq!(read.claims.times.issued_at, Some(12));
        assert_eq!(read.claims.audience, ["a", "b"]);
        assert!(!TokenTimes::default().is_expired_at(i64::MAX));
    }

    #[test]
    fn who_has_no_address_is_told_by_its_subject() {
        let of = |claims: &str| parse(&token(claims)).unwrap().claims.identity().map(str::to_owned);
        assert_eq!(of(r#"{"sub":"builder"}"#).as_deref(), Some("builder"));
        assert_eq!(of(r#"{"sub":"builder","email":1}"#).as_deref(), Some("builder"));
        assert_eq!(of(r#"{"sub":""}"#), None);
        assert_eq!(of("{}"), None);
    }

    #[test]
    fn what_is_no_token_is_refused_by_its_cause() {
        for (text, error) in [
            ("", TokenError::Parts),
            ("a.b", TokenError::Parts),
            ("a.b.c.d", TokenError::Parts),
            ("?.b.c", TokenError::Base64("header")),
            ("YQ.YQ.YQ", TokenError::Json("header")),
            (&token("[]"), TokenError::Json("claims")),
            (&token(r#"{"exp":"soon"}"#), TokenError::Json("claims")),
            (&token(r#"{"iss":1}"#), TokenError::Json("claims")),
            (&token(r#"{"aud":[1]}"#), TokenError::Json("claims")),
        ] {
            assert_eq!(parse(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn what_was_read_does_not_show_the_token() {
        let (signed, signature) = RECORDED.trim().rsplit_once('.').unwrap();
        let printed = format!("{:?}", parse(RECORDED.trim()).unwrap());
        assert!(!printed.contains(signed) && !printed.contains(signature), "{printed}");
    }
}
