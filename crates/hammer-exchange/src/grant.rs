//! Tokens that an issuer grants: how a plan asks for them, the endpoint that is asked, and who keeps them fresh beside the load.

mod endpoint;
mod first;
mod plan;
mod refresh;

pub use endpoint::{EndpointFault, TokenEndpoint};
pub use first::{FirstTokens, FirstTokensError, discover, first_tokens};
pub use plan::{BearerGrantPlan, ClientSecretPlace, GrantKind, GrantPlan, GrantedKind};
pub use refresh::{RefreshSession, TokenRefresh};
