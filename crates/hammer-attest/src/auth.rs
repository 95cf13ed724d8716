//! What provisioning lets in by, as requests carry it.

use std::fmt;
use std::sync::Arc;

use hammer_core::runtime::Clock;
use hammer_exchange::WallTime;
use hammer_exchange::stock::{ShardTokens, TokenStock};
use hammer_exchange::token::TokenPlan;
use hammer_net::Secret;
use http::HeaderValue;

use crate::error::AttestError;
use crate::plan::AuthPlan;

/// What provisioning lets in by.
#[derive(Clone)]
pub enum AttestAuth {
    /// They ask for nothing.
    None,
    /// A user with a password, or one token.
    Header(HeaderValue),
    /// Tokens that an issuer grants; requests take them in turn.
    Tokens(Arc<TokenStock>, WallTime),
}

/// The same of one shard.
pub(crate) enum ShardAuth {
    None,
    Header(HeaderValue),
    Tokens(ShardTokens),
}

impl AttestAuth {
    /// What a plan says, where no issuer has to be asked for it.
    ///
    /// # Errors
    /// A password or a token that cannot be read.
    pub fn of(plan: Option<&AuthPlan>) -> Result<Self, AttestError> {
        let Some(plan) = plan else { return Ok(Self::None) };
        if let Some(basic) = &plan.basic {
            return Ok(Self::Header(basic.authorization()?));
        }
        let token = plan.bearer.as_ref().and_then(|bearer| bearer.token());
        let token = token.map(TokenPlan::read).transpose()?;
        Ok(token.map(|token: Secret| token.bearer()).transpose()?.map_or(Self::None, Self::Header))
    }

    pub(crate) fn of_shard(&self, clock: &std::rc::Rc<dyn Clock>) -> ShardAuth {
        match self {
            Self::None => ShardAuth::None,
            Self::Header(value) => ShardAuth::Header(value.clone()),
            Self::Tokens(stock, wall) => {
                ShardAuth::Tokens(ShardTokens::new(stock.clone(), clock.clone(), *wall))
            }
        }
    }
}

impl fmt::Debug for AttestAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Header(_) => "Header(***)",
            Self::Tokens(..) => "Tokens(***)",
        })
    }
}
