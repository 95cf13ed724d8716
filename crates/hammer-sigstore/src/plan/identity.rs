//! Whose tokens Fulcio is shown.

use std::net::SocketAddr;

use hammer_exchange::grant::GrantPlan;
use hammer_exchange::token::TokenPlan;
use hammer_values::{Agreed, KeyConflict, PlanBlock, ServiceUrl, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where identity tokens come from: hammer's own issuer, which gives each flow an identity and a token of its own, one token for all
/// flows, or an issuer that grants them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityPlan {
    /// The issuer by whose name hammer signs tokens (`iss`), as Fulcio's configuration names it. Discovery and keys are served at
    /// `listen` while the run lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<ServiceUrl>,
    /// The address at which hammer's own issuer is served; by default that of `issuer`, where it is an address of loopback with a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// What hammer's own tokens are signed with: `es256` or `rs256`.
    pub signer: TokenSigner,
    /// For whom tokens are (`aud`): the client id in Fulcio's configuration.
    pub audience: String,
    /// How long a token is valid from the run's start on; a run must not last longer. With `rotate_every`: from its flow's start on.
    pub lifetime: TimeSpan,
    /// How often hammer's own issuer changes its key. Keys stay published until the last token that they signed is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate_every: Option<TimeSpan>,
    /// One token for all flows, in place of an issuer: from a file or an environment variable. A file that changes is read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenPlan>,
    /// Tokens that an issuer grants, in place of hammer's own: flows take them in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Agreed<GrantPlan>>,
    /// What is signed to prove possession of a key to a Fulcio that is shown these tokens: by default each token's own `email`, else its
    /// `sub`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What certificates name as the issuer of the token: by default the token's own `iss`. Fulcio names another where its
    /// configuration takes it from another claim (`issuer-claim`), as behind Dex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified_issuer: Option<String>,
    /// What certificates name: a mailbox, a URI, or the name of a user with its domain (`jdoe!example.com`). By default the token's own
    /// `email` where that is what is signed to prove possession; every other name Fulcio makes of claims, as its configuration says, and
    /// it is not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified_subject: Option<String>,
}

/// The algorithm of a token's signature (RFC 7518 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenSigner {
    /// ECDSA over P-256 with SHA-256.
    #[default]
    Es256,
    /// RSA PKCS #1 v1.5 of 2048 bits with SHA-256.
    Rs256,
}

impl IdentityPlan {
    /// Whether it says where tokens come from.
    pub const fn has_source(&self) -> bool {
        self.issuer.is_some() || self.token.is_some() || self.grant.is_some()
    }
}

impl PlanBlock for IdentityPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let sources = [
            ("issuer", self.issuer.is_some()),
            ("token", self.token.is_some()),
            ("grant", self.grant.is_some()),
        ];
        let mut given = sources.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
        let (first, second) = (given.next(), given.next());
        if let (Some(first), Some(second)) = (first, second) {
            return Some(KeyConflict::at(second, format!("there is `{first}` already: give one of both")));
        }
        let of_own = [("listen", self.listen.is_some()), ("rotate_every", self.rotate_every.is_some())];
        let without_issuer = of_own.iter().find(|(_, is_given)| *is_given && self.issuer.is_none());
        if let Some((key, _)) = without_issuer {
            return Some(KeyConflict::at(
                *key,
                "it is of hammer's own issuer, which `issuer` (or `--issuer`) names",
            ));
        }
        let is_stated = self.subject.is_some() && self.issuer.is_some();
        is_stated.then(|| {
            KeyConflict::at("subject", "it is of somebody else's token: each of hammer's own says it")
        })
    }
}

impl Default for IdentityPlan {
    fn default() -> Self {
        Self {
            issuer: None,
            listen: None,
            signer: TokenSigner::default(),
            audience: "sigstore".to_owned(),
            lifetime: TimeSpan::from_secs(86_400),
            rotate_every: None,
            token: None,
            grant: None,
            subject: None,
            certified_issuer: None,
            certified_subject: None,
        }
    }
}
