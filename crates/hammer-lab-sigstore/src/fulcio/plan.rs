//! The embedded Fulcio as a plan writes it.

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use serde::{Deserialize, Serialize};

use crate::token::IssuerType;
use hammer_lab_authority::AuthorityCurve;

/// What a lie of the embedded Fulcio is. All that it does not name is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FulcioLieKind {
    /// The certificate is for another public key.
    CertificateForAnotherKey,
    /// The certificate names another e-mail address.
    CertificateForAnotherIdentity,
    /// The certificate says that the token was of another issuer.
    CertificateOfAnotherIssuer,
    /// The certificate has no SCT, and the log does not know it.
    CertificateWithoutSct,
    /// The SCT has another log's id, and that log's good signature.
    SctOfAnotherLog,
    /// The SCT's signature does not verify.
    BadSctSignature,
    /// The SCT is a good one of the right log, over another certificate for the same key and identity.
    SctOfAnotherCertificate,
    /// An authority of the same name and another key signed the certificate, and its root is in the chain. The SCT is over
    /// what the right one would have signed, since no log takes the other.
    CertificateByAnotherCa,
    /// The trust bundle that is served is of an authority of the same name and another key. It is told of answers with the bundle, over
    /// REST and gRPC, and counts those alone.
    AnotherTrustBundle,
}

impl FulcioLieKind {
    /// Whether it is about the trust bundle, and not about a certificate.
    pub(super) fn is_of_bundles(self) -> bool {
        self == Self::AnotherTrustBundle
    }

    /// Whether it is about an SCT, and so needs a log.
    pub(crate) const fn is_of_scts(self) -> bool {
        matches!(
            self,
            Self::CertificateWithoutSct
                | Self::SctOfAnotherLog
                | Self::BadSctSignature
                | Self::SctOfAnotherCertificate
        )
    }
}

/// Where an SCT is, as the authority behind Fulcio can have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SctPlace {
    /// In the certificate, over its precertificate.
    #[default]
    Embedded,
    /// Beside the certificate, over it as it is.
    Detached,
}

/// The embedded Fulcio in a plan file; every key may be left out. Whose tokens it takes and which log it submits to is
/// settled by what starts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FulcioLabPlan {
    /// Listener, threads, TLS. REST and gRPC share the listener.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: signing-cert-v1, signing-cert-v2, signing-cert-grpc, root-cert, trust-bundle,
    /// configuration, healthz, other.
    pub faults: FaultScript,
    /// Seed of the authority's P-256 key: whoever knows it holds the key.
    pub key_seed: u64,
    /// The curve of the authority's key.
    pub ca_curve: AuthorityCurve,
    /// Whether an intermediate signs the certificates, as in production, or the root itself.
    pub intermediate: bool,
    /// The audience that tokens must name.
    pub audience: String,
    /// What its certificates name of a token, and so what possession of a key is proved over: `email`, `kubernetes` or `username`.
    pub issuer_type: IssuerType,
    /// Where the SCT of a certificate is.
    pub sct: SctPlace,
    /// Issuers whose tokens it takes as well, and whose keys it looks up: by their discovery document when a token first names them, and
    /// again whenever a token is by a key that it does not know. `http` on loopback alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issuers: Vec<String>,
    /// Lies that it tells on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<FulcioLieKind>>,
}

impl Default for FulcioLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            ca_curve: AuthorityCurve::default(),
            intermediate: false,
            audience: "sigstore".into(),
            issuer_type: IssuerType::default(),
            sct: SctPlace::default(),
            issuers: Vec::new(),
            lies: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"ca_curve": "p384", "lies": [{"kind": "bad-sct-signature", "every": 3}]}"#;
        let plan: FulcioLabPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.ca_curve, AuthorityCurve::P384);
        assert_eq!(plan.lies[0].kind, FulcioLieKind::BadSctSignature);
        assert!(serde_json::from_str::<FulcioLabPlan>(r#"{"curve": "p384"}"#).is_err());
    }

    #[test]
    fn the_default_plan_survives_its_own_text() {
        let text = serde_json::to_string(&FulcioLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<FulcioLabPlan>(&text).unwrap(), FulcioLabPlan::default());
    }
}
