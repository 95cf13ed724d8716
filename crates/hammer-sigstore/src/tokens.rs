//! Whose token a flow shows to Fulcio.

use std::sync::Arc;

use hammer_exchange::stock::TokenStock;
use hammer_oauth::jwt::{IdentityClaims, MintScratch, TokenMinter};

use crate::material::FlowMaterial;

/// Where the tokens of flows come from.
#[derive(Debug)]
pub enum FlowTokens {
    /// Each flow has one of its own, in the name of its own identity.
    Minted {
        /// Who signs them.
        minter: Box<TokenMinter>,
        /// Since when they are valid, seconds since 1970.
        issued_at: i64,
        /// Until when.
        expires_at: i64,
    },
    /// Flows take in turn what is at hand as they start: one token of a file, or those that an issuer grants.
    Stocked(Arc<TokenStock>),
}

impl FlowTokens {
    /// The identity that flows are prepared for, where they show tokens that somebody else made.
    pub(crate) fn subject(&self) -> Option<&str> {
        match self {
            Self::Minted { .. } => None,
            Self::Stocked(stock) => stock.subject(),
        }
    }

    /// The tokens that flows take as they start.
    pub(crate) fn stock(&self) -> Option<&Arc<TokenStock>> {
        match self {
            Self::Minted { .. } => None,
            Self::Stocked(stock) => Some(stock),
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

/// A run sends fewer operations than that many bits count.
const SEQ_BITS: u32 = 48;
