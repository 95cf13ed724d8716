//! The claims that every service looks at (RFC 7519 section 4.1).

use serde::Deserialize;

/// Who issued a token about whom, for whom and until when.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RegisteredClaims {
    /// The issuer; empty without one.
    pub iss: String,
    /// The subject; empty without one.
    pub sub: String,
    aud: Audience,
    exp: Option<f64>,
    nbf: Option<f64>,
}

/// One name or several (RFC 7519 section 4.1.3).
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Why a token is not for this service at this time; the texts complete "failed to ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimFault {
    /// It is for somebody else.
    #[error("find the audience in the token")]
    Audience,
    /// `exp` is over, or there is none.
    #[error("accept the token at this time: it has expired")]
    Expired,
    /// `nbf` lies ahead.
    #[error("accept the token at this time: it is not valid yet")]
    NotYetValid,
}

impl Default for Audience {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl RegisteredClaims {
    /// Holds them against an audience and a time in seconds since the Unix epoch, of which `nbf` may lie `leeway` seconds ahead.
    ///
    /// # Errors
    /// The first claim that is wrong: `aud`, `exp`, `nbf`.
    pub fn check(&self, audience: &str, now: f64, leeway: f64) -> Result<(), ClaimFault> {
        let meant = match &self.aud {
            Audience::One(name) => name == audience,
            Audience::Several(names) => names.iter().any(|name| name == audience),
        };
        if !meant {
            return Err(ClaimFault::Audience);
        }
        if self.exp.is_none_or(|expiry| expiry < now) {
            return Err(ClaimFault::Expired);
        }
        if self.nbf.is_some_and(|start| start > now + leeway) {
            return Err(ClaimFault::NotYetValid);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(claims: &str) -> Option<ClaimFault> {
        serde_json::from_str::<RegisteredClaims>(claims).unwrap().check("us", 1_000.0, 5.0).err()
    }

    #[test]
    fn the_audience_is_one_name_or_one_of_several() {
        assert_eq!(fault(r#"{"aud":"us","exp":1000}"#), None);
        assert_eq!(fault(r#"{"aud":["them","us"],"exp":1000.5}"#), None);
        for claims in [r#"{"aud":"them","exp":1000}"#, r#"{"aud":[],"exp":1000}"#, r#"{"exp":1000}"#] {
            assert_eq!(fault(claims), Some(ClaimFault::Audience), "{claims}");
        }
    }

    #[test]
    fn a_token_has_an_end_and_starts_no_later_than_the_leeway() {
        assert_eq!(fault(r#"{"aud":"us","exp":999}"#), Some(ClaimFault::Expired));
        assert_eq!(fault(r#"{"aud":"us"}"#), Some(ClaimFault::Expired));
        assert_eq!(fault(r#"{"aud":"us","exp":2000,"nbf":1005}"#), None);
        assert_eq!(fault(r#"{"aud":"us","exp":2000,"nbf":1006}"#), Some(ClaimFault::NotYetValid));
    }
}
