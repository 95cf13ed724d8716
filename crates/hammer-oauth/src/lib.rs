//! Tokens of OpenID Connect and OAuth 2.0, as load needs them: minted by the thousand under keys that follow from a seed, or granted
//! by an issuer and kept fresh. It never opens a socket and reads no clock: times are arguments, in seconds since the Unix epoch.
//! What is a secret is printed as `***`, and no error says it.
//!
//! Read in this order: [`secret`], [`keys`], [`jwt`], [`jwks`], [`documents`], [`rotation`], [`grant`], [`pool`].

pub mod documents;
pub mod grant;
pub mod jwks;
pub mod jwt;
pub mod keys;
pub mod pool;
pub mod rotation;
pub mod secret;

pub use documents::{DiscoveryError, IssuerDiscovery, IssuerDocuments, IssuerUrlError};
pub use grant::{ClientAuthentication, Grant, GrantError, GrantRequest, GrantedToken, WantedToken};
pub use jwks::{ExpectedClaims, JwkSet, JwkSetError, VerifyError};
pub use jwt::{
    ExtraClaim, IdentityClaims, MintScratch, ParsedToken, TokenClaims, TokenError, TokenHeader, TokenMinter,
    TokenTimes,
};
pub use keys::{IssuerKeyError, IssuerKeys, TokenAlgorithm};
pub use pool::{PoolEvent, PoolPlan, PoolSlot, TokenPool};
pub use rotation::{RotatingIssuer, Rotation};
pub use secret::{BearerToken, SecretText};
