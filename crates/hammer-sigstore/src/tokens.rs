//! Whose token a flow shows to Fulcio.

use hammer_net::Secret;
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
    /// All flows have the same.
    One {
        /// The token.
        token: Secret,
        /// What Fulcio makes of it in certificates, and what is signed to prove possession of a key.
        subject: String,
    },
}

impl FlowTokens {
    /// The identity of all flows, where they have one.
    pub(crate) fn subject(&self) -> Option<&str> {
        match self {
            Self::Minted { .. } => None,
            Self::One { subject, .. } => Some(subject),
        }
    }

    /// Replaces `out` by the token of the flow `seq` of a workload.
    pub(crate) fn write(
        &self,
        (workload, seq): (u64, u64),
        material: &FlowMaterial,
        scratch: &mut MintScratch,
        out: &mut String,
    ) {
        out.clear();
        match self {
            Self::Minted { minter, issued_at, expires_at } => {
                let claims = IdentityClaims {
                    subject: &material.identity,
                    email: Some(&material.identity),
                    issued_at: *issued_at,
                    expires_at: *expires_at,
                    extra: &[],
                };
                // Workloads share the issuer's key, and no two tokens may share a nonce.
                minter.mint(workload << SEQ_BITS | seq, &claims, scratch, out);
            }
            Self::One { token, .. } => out.push_str(token.expose()),
        }
    }
}

/// A run sends fewer operations than that many bits count.
const SEQ_BITS: u32 = 48;
