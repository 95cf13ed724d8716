//! The embedded signature service as a plan writes it.

use std::path::PathBuf;

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use hammer_values::TimeSpan;
use serde::{Deserialize, Serialize};

/// What a lie of the embedded signature service is. All that it does not name is right. Each is of one signature, and chosen as it is
/// started, of one file, as it is opened, of one login, or of one timestamp, as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PkiLieKind {
    /// What is to be signed, and so the signature, is of another document.
    AnotherDocument,
    /// The signature is another signer's, whose certificate is in the place of the caller's.
    AnotherSigner,
    /// The signed attributes name no certificate.
    MissingAttribute,
    /// A PDF comes back with its first revision changed.
    ChangedDocument,
    /// The `ByteRange` of a PDF leaves out more than its `Contents`.
    ByteRangeHole,
    /// The timestamp that was asked for is not there.
    NoTimestamp,
    /// The timestamp is of an hour ago.
    StaleTimestamp,
    /// The timestamp is over something else.
    TimestampOverAnotherImprint,
    /// The timestamp has another nonce than its query (RFC 3161 alone).
    TimestampWithAnotherNonce,
    /// A file that does not hold is called valid.
    AcceptsAltered,
    /// A file that holds is called invalid.
    RefusesValid,
    /// A login is given the nonce of the last one.
    RepeatedNonce,
    /// Who logs in is told that another was let in.
    AnotherCertificate,
}

impl PkiLieKind {
    /// Whether it is about a timestamp, in a signature or by itself.
    pub(crate) fn is_of_timestamps(self) -> bool {
        self.is_of_tokens() || matches!(self, Self::NoTimestamp | Self::TimestampWithAnotherNonce)
    }

    /// Whether it is about what stands in a timestamp, however that was asked for.
    pub(crate) fn is_of_tokens(self) -> bool {
        matches!(self, Self::StaleTimestamp | Self::TimestampOverAnotherImprint)
    }

    /// Whether it is about what is said of a file that is opened.
    pub(crate) fn is_of_verdicts(self) -> bool {
        matches!(self, Self::AcceptsAltered | Self::RefusesValid)
    }

    /// Whether it is about a signature or its timestamp, which has no nonce, and so chosen as one is started.
    pub(crate) fn is_of_signatures(self) -> bool {
        let others = [Self::RepeatedNonce, Self::AnotherCertificate, Self::TimestampWithAnotherNonce];
        !self.is_of_verdicts() && !others.contains(&self)
    }

    /// Whether it is about what stands in a PDF.
    pub(crate) fn is_of_documents(self) -> bool {
        matches!(self, Self::ChangedDocument | Self::ByteRangeHole)
    }
}

/// Lists of revoked certificates (CRL), one of which the service has to have before it takes a certificate of that issuer: the cold start of the
/// real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevocationPlan {
    /// Whether it fetches the list that the certificate names, over `http` from an address of loopback or a private network, and refuses what it
    /// cannot find current, signed by its issuer and without that certificate. Otherwise it waits as if it did.
    #[serde(default)]
    pub fetch: bool,
    /// How long one takes, besides what its server takes. Whoever needs the same one meanwhile waits for it, too.
    #[serde(default)]
    pub delay: TimeSpan,
    /// How long one is kept; one that was fetched no longer than until its own end.
    #[serde(default = "an_hour")]
    pub kept: TimeSpan,
}

const fn an_hour() -> TimeSpan {
    TimeSpan::from_secs(3600)
}

/// An embedded signature service that speaks Rest PKI's API of version 1; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PkiLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: info, authentication, cades-start, cades-finish, pades-start, pades-finish, open, timestamp,
    /// tsa, upload, blob, other.
    pub faults: FaultScript,
    /// Seed of the P-256 keys of the timestamp authority: whoever knows it holds them.
    pub key_seed: u64,
    /// The token that its callers show: nobody's secret.
    pub access_token: String,
    /// PEM files with the roots that certificates of signers have to lead to. Without any it takes whatever is in its validity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots_pem_files: Vec<PathBuf>,
    /// The PEM of further roots, which whoever starts it has at hand.
    #[serde(skip)]
    pub roots_pem: String,
    /// How long a signature that was started can be finished.
    pub token_ttl: TimeSpan,
    /// Lists of revoked certificates; without them none is fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revocation: Option<RevocationPlan>,
    /// Lies that it tells on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<PkiLieKind>>,
}

impl Default for PkiLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            access_token: "lab-token".to_owned(),
            roots_pem_files: Vec::new(),
            roots_pem: String::new(),
            token_ttl: TimeSpan::from_secs(300),
            revocation: None,
            lies: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"revocation": {"delay": "2s"}, "lies": [{"kind": "byte-range-hole", "times": 1}]}"#;
        let plan: PkiLabPlan = serde_json::from_str(text).unwrap();
        let revocation = plan.revocation.unwrap();
        assert_eq!((revocation.kept, revocation.fetch), (TimeSpan::from_secs(3600), false));
        assert_eq!(plan.lies[0].kind, PkiLieKind::ByteRangeHole);
        assert!(serde_json::from_str::<PkiLabPlan>(r#"{"token": "x"}"#).is_err());
        let default = serde_json::to_string(&PkiLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<PkiLabPlan>(&default).unwrap(), PkiLabPlan::default());
    }
}
