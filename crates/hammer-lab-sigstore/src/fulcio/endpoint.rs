//! The endpoints of Fulcio, REST and gRPC.

use hammer_messages::{
    fulcio::{CREATE_SIGNING_CERTIFICATE, GET_CONFIGURATION, GET_TRUST_BUNDLE},
    health::CHECK,
};

/// The name of the endpoint at a path.
pub(super) fn endpoint(path: &str) -> &'static str {
    match path {
        "/api/v1/signingCert" => SIGNING_CERT_V1,
        "/api/v2/signingCert" => SIGNING_CERT_V2,
        "/api/v1/rootCert" => ROOT_CERT,
        "/api/v2/trustBundle" => TRUST_BUNDLE,
        "/api/v2/configuration" => CONFIGURATION,
        "/healthz" => HEALTHZ,
        CREATE_SIGNING_CERTIFICATE => SIGNING_CERT_GRPC,
        GET_TRUST_BUNDLE => TRUST_BUNDLE,
        GET_CONFIGURATION => CONFIGURATION,
        CHECK => HEALTHZ,
        _ => "other",
    }
}

/// Every name that [`endpoint`] gives.
pub(super) const ALL: [&str; 8] = [
    SIGNING_CERT_V1,
    SIGNING_CERT_V2,
    SIGNING_CERT_GRPC,
    ROOT_CERT,
    TRUST_BUNDLE,
    CONFIGURATION,
    HEALTHZ,
    "other",
];
pub(super) const SIGNING_CERT_V1: &str = "signing-cert-v1";
pub(super) const SIGNING_CERT_V2: &str = "signing-cert-v2";
pub(super) const SIGNING_CERT_GRPC: &str = "signing-cert-grpc";
pub(super) const ROOT_CERT: &str = "root-cert";
pub(super) const TRUST_BUNDLE: &str = "trust-bundle";
pub(super) const CONFIGURATION: &str = "configuration";
pub(super) const HEALTHZ: &str = "healthz";
