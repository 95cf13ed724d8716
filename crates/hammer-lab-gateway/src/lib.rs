//! An embedded gateway that really does the work, with scripted faults and lies: it validates bearer tokens (RFC 6750), authorizes
//! who shows them by decisions that it caches, and passes requests to an echo with sessions; each of its hops is also reached by
//! itself. Beside it is the token endpoint that grants what it takes (RFC 6749). It never measures and never follows a plan.

mod answer;
mod authentication;
mod authorization;
mod backend;
mod counts;
mod issuer;
mod lie;
mod plan;
mod route;
mod target;

pub use hammer_lab::lie_rule::LieRule;
pub use lie::ToldGatewayLie;
pub use plan::{
    AuthorizationPlan, BackendPlan, GatewayClient, GatewayLabPlan, GatewayLieKind, GatewayUser, TokenPlan,
};
pub use route::TOKEN_PATH;
pub use target::{GatewayLabHandle, GatewayTarget};
