//! Signature services in plans.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hammer_exchange::token::TokenPlan;
use hammer_values::{ByteSize, Count, OneOrMany, RequestPath, ServiceUrl, Share, TimeSpan, Weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::signature_kind::SignatureKind;

mod made_authorities;

pub use made_authorities::{CrlPlan, MadeAuthoritiesPlan};

/// A signature service, and who signs there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PkiTargetPlan {
    /// What stands before `/Api` of Rest PKI, or before `/signature` of DSS's REST services; several frontends, of which balancing chooses.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub url: OneOrMany<ServiceUrl>,
    /// What it speaks.
    pub dialect: Dialect,
    /// The access token that callers show, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenPlan>,
    /// PEM files with the certificates that timestamps have to lead to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timestamp_roots_pem_files: Vec<PathBuf>,
    /// How far the clock of the service may be from this machine's.
    pub skew: TimeSpan,
    /// Who signs, in turn. Without any, so many signers are made whose certificates nobody issued but they themselves, or the made
    /// authorities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signers: Vec<SignerPlan>,
    /// How many signers are made where none is given: P-256 keys that follow from the seed.
    pub made_signers: Count,
    /// Authorities that issue the certificates of those made signers, in turn; without them each signer certifies itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_authorities: Option<MadeAuthoritiesPlan>,
}

/// A signer by its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignerPlan {
    /// Its key, of RSA or P-256: PKCS #8 in PEM.
    pub key_file: PathBuf,
    /// Its certificate in PEM, and behind it those of its issuers, which some services want along.
    pub certificate_file: PathBuf,
}

/// Documents that are signed, each one operation: what comes back has to be it, signed as was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignPlan {
    /// How often each kind is asked for, as weights. Each is a series: `cades`, `cades-t`, `pades`, `pades-t`.
    pub mix: Weights<SignatureKind, u16>,
    /// How long documents are: valid PDFs, each another one.
    pub size: ByteSize,
    /// How long the longest are, where they differ: as many of each power of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_size: Option<ByteSize>,
    /// Whether CAdES sends the digest alone, and the document stays here (DSS alone).
    pub by_digest: bool,
    /// Whether the file is asked for by its URL and fetched by a step of its own, `fetch` (Rest PKI alone).
    pub by_url: bool,
    /// From which size on a document is uploaded in parts, as the vendor's clients do (Rest PKI alone; 5 MiB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multipart_from: Option<ByteSize>,
    /// The security context by which Rest PKI validates certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<String>,
}

/// Logins by certificate, each one operation (Rest PKI alone).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuthenticatePlan {
    /// What the service gives to be signed.
    pub by: AuthenticateBy,
}

/// What a service gives to be signed by who logs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuthenticateBy {
    /// A nonce, which is sent along with its signature.
    #[default]
    Nonce,
    /// A nonce with a token, which stands for it.
    Token,
}

/// Timestamps of hashes, each one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimestampPlan {
    /// How they are asked for.
    pub by: TimestampBy,
    /// The plan of timestamps that Rest PKI is asked by in JSON (`default`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Path and query of the authority behind the path of the target's URL (`by: http` alone); without it that URL is the authority's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<RequestPath>,
}

/// How timestamps are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimestampBy {
    /// The JSON of the dialect.
    #[default]
    Json,
    /// RFC 3161 over HTTP (section 3.4): a query in DER with a nonce, which asks for the certificate of the signer.
    Http,
}

/// Validations of signed files, each one operation: what the service says of a file has to be what is true of it. Without any file each user
/// has a document of each kind signed by the service as it enters, and those validated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ValidatePlan {
    /// Files that are valid: CMS in DER with the document in them, and PDF.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub valid: Vec<PathBuf>,
    /// Files of which the service has to say that they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<PathBuf>,
    /// Files of which the service has to say that it cannot say (DSS alone).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub indeterminate: Vec<PathBuf>,
    /// The share of valid files in whose place an altered twin is shown: one byte of what is signed, or of the signature, is another.
    pub altered: Share,
    /// Without files, what users have signed, and how often each is validated, as weights. Each is a series.
    pub mix: Weights<SignatureKind, u16>,
    /// Without files, how long those documents are.
    pub size: ByteSize,
    /// The security context by which Rest PKI validates certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<String>,
}

impl Default for PkiTargetPlan {
    fn default() -> Self {
        Self {
            url: OneOrMany::default(),
            dialect: Dialect::default(),
            token: None,
            timestamp_roots_pem_files: Vec::new(),
            skew: TimeSpan::from_secs(60),
            signers: Vec::new(),
            made_signers: Count::at_least_one(10),
            made_authorities: None,
        }
    }
}

impl Default for SignPlan {
    fn default() -> Self {
        let mix: BTreeMap<_, _> = [(SignatureKind::Cades, 1)].into();
        Self {
            mix: mix.try_into().unwrap_or_default(),
            // That of the published load test: 137 KB.
            size: ByteSize::from_kib(137),
            most_size: None,
            by_digest: false,
            by_url: false,
            multipart_from: None,
            security_context: None,
        }
    }
}

impl Default for ValidatePlan {
    fn default() -> Self {
        let mix: BTreeMap<_, _> = [(SignatureKind::Cades, 1), (SignatureKind::Pades, 1)].into();
        Self {
            valid: Vec::new(),
            invalid: Vec::new(),
            indeterminate: Vec::new(),
            altered: Share::NONE,
            mix: mix.try_into().unwrap_or_default(),
            size: ByteSize::from_kib(137),
            security_context: None,
        }
    }
}

impl ValidatePlan {
    /// Whether files are given.
    pub fn has_files(&self) -> bool {
        [&self.valid, &self.invalid, &self.indeterminate].into_iter().any(|files| !files.is_empty())
    }
}
