//! The embedded services in a plan: those of the lab, and whose tokens their Fulcio is shown.

use hammer_exchange::grant::GrantPlan;
use hammer_lab::CtLabPlan;
use hammer_lab_sigstore::{
    FulcioLabPlan, ProviderLabPlan, RekorLabPlan, RekorTilesLabPlan, SigstoreLabPlan, TokenSignature,
    TsaLabPlan, TufLabPlan,
};
use hammer_sigstore::IdentityPlan;
use hammer_values::{Agreed, KeyConflict, PlanBlock, ServiceUrl, TimeSpan};
use serde::{Deserialize, Serialize};

use super::issuer::signer_of;

/// The keys of [`SigstoreLabPlan`], and one of a run's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EmbeddedPlan {
    token_signature: TokenSignature,
    fulcio: FulcioLabPlan,
    has_ct_log: bool,
    ct_log: CtLabPlan,
    rekor: RekorLabPlan,
    rekor_tiles: RekorTilesLabPlan,
    timestamp_authority: TsaLabPlan,
    tuf: TufLabPlan,
    issuer: ProviderLabPlan,
    /// Whose tokens flows show; those of hammer's own issuer without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Agreed<EmbeddedIdentity>>,
}

/// Whose tokens flows show to the embedded Fulcio.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EmbeddedIdentity {
    /// As [`IdentityPlan::lifetime`].
    lifetime: TimeSpan,
    /// As [`IdentityPlan::rotate_every`].
    #[serde(skip_serializing_if = "Option::is_none")]
    rotate_every: Option<TimeSpan>,
    /// Tokens that an issuer grants: the embedded one, where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<GrantPlan>,
    /// As [`IdentityPlan::subject`].
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
}

impl Default for EmbeddedPlan {
    fn default() -> Self {
        let SigstoreLabPlan {
            token_signature,
            fulcio,
            has_ct_log,
            ct_log,
            rekor,
            rekor_tiles,
            timestamp_authority,
            tuf,
            issuer,
        } = SigstoreLabPlan::default();
        Self {
            token_signature,
            fulcio,
            has_ct_log,
            ct_log,
            rekor,
            rekor_tiles,
            timestamp_authority,
            tuf,
            issuer,
            identity: None,
        }
    }
}

impl Default for EmbeddedIdentity {
    fn default() -> Self {
        let lifetime = IdentityPlan::default().lifetime;
        Self { lifetime, rotate_every: None, grant: None, subject: None }
    }
}

impl PlanBlock for EmbeddedIdentity {
    fn conflict(&self) -> Option<KeyConflict> {
        let is_granted = self.grant.is_some();
        let conflicts = [
            (
                is_granted && self.rotate_every.is_some(),
                "rotate_every",
                "hammer's own issuer rotates its key, and `grant` names another",
            ),
            (
                !is_granted && self.subject.is_some(),
                "subject",
                "it is of tokens that are granted: each of hammer's own says it",
            ),
        ];
        if let Some((_, key, reason)) = conflicts.into_iter().find(|(is_one, ..)| *is_one) {
            return Some(KeyConflict::at(key, reason));
        }
        let conflict = placed(self.grant.as_ref()?, "http://127.0.0.1".parse().ok()).conflict()?;
        let (_, key) = GRANT_KEYS.into_iter().find(|(key, _)| *key == conflict.key())?;
        Some(KeyConflict::at(key, conflict.reason()))
    }
}

impl EmbeddedPlan {
    /// What the lab is started with.
    pub(super) fn lab(&self) -> SigstoreLabPlan {
        let Self { fulcio, ct_log, rekor, rekor_tiles, timestamp_authority, tuf, issuer, .. } = self.clone();
        SigstoreLabPlan {
            token_signature: self.token_signature,
            fulcio,
            has_ct_log: self.has_ct_log,
            ct_log,
            rekor,
            rekor_tiles,
            timestamp_authority,
            tuf,
            issuer,
        }
    }

    /// Whether flows show tokens that an issuer grants.
    pub(super) fn is_granted(&self) -> bool {
        self.identity.as_ref().is_some_and(|identity| identity.grant.is_some())
    }

    /// Whose tokens flows show; what the embedded issuer grants is asked for at `provider`.
    pub(super) fn identity(&self, provider: Option<ServiceUrl>) -> IdentityPlan {
        let of_plan = self.identity.as_ref().map(|identity| (**identity).clone()).unwrap_or_default();
        let EmbeddedIdentity { lifetime, rotate_every, grant, subject } = of_plan;
        IdentityPlan {
            signer: signer_of(self.token_signature),
            audience: self.fulcio.audience.clone(),
            lifetime,
            rotate_every,
            // It agreed with whatever place.
            grant: grant.and_then(|grant| Agreed::new(placed(&grant, provider)).ok()),
            subject,
            ..IdentityPlan::default()
        }
    }
}

/// A grant by the issuer that it names, else by the embedded one.
fn placed(grant: &GrantPlan, provider: Option<ServiceUrl>) -> GrantPlan {
    let issuer = grant.issuer.clone();
    let issuer = if grant.token_url.is_some() { issuer } else { issuer.or(provider) };
    GrantPlan { issuer, ..grant.clone() }
}

/// Keys of a grant, and where they stand here.
const GRANT_KEYS: [(&str, &str); 6] = [
    ("token_url", "grant.token_url"),
    ("client_id", "grant.client_id"),
    ("client_secret", "grant.client_secret"),
    ("username", "grant.username"),
    ("password", "grant.password"),
    ("refresh", "grant.refresh"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<EmbeddedPlan, String> {
        serde_json::from_str(json).map_err(|error: serde_json::Error| error.to_string())
    }

    #[test]
    fn a_plan_has_the_keys_of_the_lab_and_survives_its_own_text() {
        let plan =
            read(r#"{"has_ct_log":false,"issuer":{"expires_in":"3s"},"identity":{"rotate_every":"2s"}}"#)
                .unwrap();
        assert_eq!(read(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
        assert!(!plan.lab().has_ct_log);
        assert_eq!(plan.lab().issuer.expires_in, TimeSpan::from_secs(3));
        assert_eq!(plan.identity(None).rotate_every, Some(TimeSpan::from_secs(2)));
        assert_eq!(read("{}").unwrap().lab(), SigstoreLabPlan::default());
        assert!(read(r#"{"rekor1":{}}"#).is_err());
    }

    #[test]
    fn the_embedded_issuer_grants_where_no_other_is_named() {
        let grant = |more: &str| {
            let plan = format!(
                r#"{{"identity":{{"grant":{{"client_id":"c","client_secret":{{"env":"S"}}{more}}}}}}}"#
            );
            read(&plan).unwrap().identity("http://127.0.0.1:7".parse().ok()).grant.unwrap()
        };
        assert_eq!(grant("").issuer.as_ref().unwrap().to_string(), "http://127.0.0.1:7");
        let named = grant(r#","token_url":"http://127.0.0.1:8/t""#);
        assert!(named.issuer.is_none() && named.token_url.is_some());
    }

    #[test]
    fn what_contradicts_itself_is_refused_at_its_key() {
        let grant = r#""grant":{"client_id":"c","client_secret":{"env":"S"}}"#;
        for (json, key) in [
            (format!(r#"{{"identity":{{"rotate_every":"2s",{grant}}}}}"#), "rotate_every"),
            (r#"{"identity":{"subject":"a@b"}}"#.to_owned(), "subject"),
            (r#"{"identity":{"grant":{"client_id":"c"}}}"#.to_owned(), "grant.client_secret"),
            (r#"{"identity":{"grant":{"client_secret":{"env":"S"}}}}"#.to_owned(), "grant.client_id"),
        ] {
            let error = read(&json).unwrap_err();
            assert!(error.contains(&format!("{key}: ")), "{error}");
        }
    }
}
