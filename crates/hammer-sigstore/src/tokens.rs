//! Whose token a flow shows to Fulcio.

use std::sync::Arc;

use hammer_exchange::stock::TokenStock;
use hammer_oauth::RotatingIssuer;
use hammer_oauth::jwt::{IdentityClaims, MintScratch, TokenMinter};

use crate::material::FlowMaterial;

/// Where the tokens of flows come from.
#[derive(Debug)]
pub enum FlowTokens {
    /// Each flow has one of its own, in the name of its own identity.
    Minted {
        /// Who signs them.
        minter: Arc<TokenMinter>,
        /// Since when they are valid, seconds since 1970.
        issued_at: i64,
        /// Until when.
        expires_at: i64,
    },
    /// Each flow has one of its own, signed as it starts by the key that the issuer has by then.
    Rotated(Arc<RotatingIssuer>),
    /// Flows take in turn what is at hand as they start: one token of a file, or those that an issuer grants.
    Stocked(Arc<TokenStock>),
}

impl FlowTokens {
    /// The same tokens of hammer's own for a run that starts at `now`, in seconds since 1970: they are good for as long as those were. None
    /// where somebody else makes them.
    pub fn renewed(&self, now: i64) -> Option<Self> {
        let Self::Minted { minter, issued_at, expires_at } = self else { return None };
        let issued = now - CLOCKS_APART;
        Some(Self::Minted {
            minter: Arc::clone(minter),
            issued_at: issued,
            expires_at: expires_at.saturating_sub(*issued_at).saturating_add(issued),
        })
    }

    /// The identity that flows are prepared for, where they show tokens that somebody else made.
    pub(crate) fn subject(&self) -> Option<&str> {
        match self {
            Self::Minted { .. } | Self::Rotated(_) => None,
            Self::Stocked(stock) => stock.subject(),
        }
    }

    /// The tokens that flows take as they start.
    pub(crate) fn stock(&self) -> Option<&Arc<TokenStock>> {
        match self {
            Self::Minted { .. } | Self::Rotated(_) => None,
            Self::Stocked(stock) => Some(stock),
        }
    }

    /// Who signs tokens as their flows start, where that is not done ahead.
    pub(crate) fn rotating(&self) -> Option<&Arc<RotatingIssuer>> {
        match self {
            Self::Rotated(issuer) => Some(issuer),
            Self::Minted { .. } | Self::Stocked(_) => None,
        }
    }

    /// Replaces `out` by the token of the flow `seq` of a workload; whether that can be known ahead.
    pub(crate) fn write(
        &self,
        (workload, seq): (u64, u64),
        material: &FlowMaterial,
        scratch: &mut MintScratch,
        out: &mut String,
    ) -> bool {
        out.clear();
        let Self::Minted { minter, issued_at, expires_at } = self else { return false };
        let claims = IdentityClaims {
            subject: &material.identity,
            email: Some(&material.identity),
            issued_at: *issued_at,
            expires_at: *expires_at,
            extra: &[],
        };
        // Workloads share the issuer's key, and no two tokens may share a nonce.
        minter.mint(workload << SEQ_BITS | seq, &claims, scratch, out);
        true
    }
}

/// Seconds. A clock of the service that is a little behind must not find a token to be of the future.
pub const CLOCKS_APART: i64 = 60;

/// A run sends fewer operations than that many bits count.
const SEQ_BITS: u32 = 48;

#[cfg(test)]
mod tests {
    use hammer_oauth::jwt::parse;
    use hammer_oauth::{IssuerKeys, TokenAlgorithm};
    use hammer_synth::Seed;

    use super::*;

    #[test]
    fn tokens_of_a_later_run_are_good_as_long_from_its_start_as_those_before_were() {
        let keys = IssuerKeys::derive(&Seed::from_u64(0), TokenAlgorithm::Es256, 0);
        let minter = Arc::new(TokenMinter::new("http://issuer.hammer.test", "sigstore", keys));
        let filled = FlowTokens::Minted { minter, issued_at: 1000 - CLOCKS_APART, expires_at: 1600 };
        let measured = filled.renewed(5000).unwrap();
        let times = |tokens: &FlowTokens| {
            let mut token = String::new();
            let material = FlowMaterial { identity: "a@b".to_owned(), ..FlowMaterial::default() };
            assert!(tokens.write((0, 0), &material, &mut MintScratch::default(), &mut token));
            let times = parse(&token).unwrap().claims.times;
            (times.issued_at, times.expires_at)
        };
        assert_eq!(times(&filled), (Some(940), Some(1600)));
        assert_eq!(times(&measured), (Some(4940), Some(5600)));
        assert!(FlowTokens::Stocked(TokenStock::new(Vec::new())).renewed(5000).is_none());
    }
}
