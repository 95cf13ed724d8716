//! Fulcio over gRPC (package dev.sigstore.fulcio.v2).

use bytes::Bytes;
use hammer_lab::serve::{
    answer::AnswerBody,
    grpc::{self, GrpcCode, GrpcRefusal},
};
use hammer_messages::{
    fulcio::{
        CREATE_SIGNING_CERTIFICATE, CertificateChain, Configuration, CreateSigningCertificateRequest,
        GET_CONFIGURATION, GET_TRUST_BUNDLE, GetConfigurationRequest, GetTrustBundleRequest,
        IssuedCertificate, IssuerName, OidcIssuer, RequestedKey, SigningCertificate,
        SigningCertificateDetachedSct, SigningCertificateEmbeddedSct, TrustBundle,
    },
    health::{CHECK, HealthCheckRequest, HealthCheckResponse, ServingStatus},
};
use http::{Response, request::Parts};
use prost::Message;

use super::{
    issuance::{Issuance, IssuedChain},
    signing_request::KeySource,
};

/// The answer to a call of this method.
pub(super) async fn answer(issuance: &Issuance, parts: &Parts, body: &Bytes) -> Response<AnswerBody> {
    let answered = match parts.uri.path() {
        CREATE_SIGNING_CERTIFICATE => create_signing_certificate(issuance, parts, body).await,
        GET_TRUST_BUNDLE => {
            read::<GetTrustBundleRequest>(body).map(|_| trust_bundle(issuance).encode_to_vec())
        }
        GET_CONFIGURATION => {
            read::<GetConfigurationRequest>(body).map(|_| configuration(issuance).encode_to_vec())
        }
        CHECK => read::<HealthCheckRequest>(body)
            .map(|_| HealthCheckResponse { status: ServingStatus::Serving as i32 }.encode_to_vec()),
        path => {
            let method = path.trim_start_matches('/');
            Err(GrpcRefusal::new(GrpcCode::Unimplemented, format!("unknown method {method}")))
        }
    };
    answered.map_or_else(Response::from, |message| grpc::ok(&message))
}

async fn create_signing_certificate(
    issuance: &Issuance,
    parts: &Parts,
    body: &Bytes,
) -> Result<Vec<u8>, GrpcRefusal> {
    let request: CreateSigningCertificateRequest = read(body)?;
    let token =
        request.credentials.as_ref().and_then(|credentials| credentials.oidc_identity_token.as_deref());
    // Fulcio looks here as well.
    let metadata = || parts.headers.get("oidcidentitytoken").and_then(|value| value.to_str().ok());
    let token = token.filter(|token| !token.is_empty()).or_else(metadata).unwrap_or_default();
    let key = match &request.key {
        Some(RequestedKey::CertificateSigningRequest(csr)) => KeySource::SigningRequest(csr),
        Some(RequestedKey::PublicKeyRequest(asked)) => {
            let content = asked.public_key.as_ref().map_or("", |key| key.content.as_str());
            KeySource::PublicKey { content: content.as_bytes(), proof: &asked.proof_of_possession }
        }
        None => KeySource::PublicKey { content: &[], proof: &[] },
    };
    Ok(signing_certificate(issuance.issue(token, key).await?).encode_to_vec())
}

fn signing_certificate(issued: IssuedChain) -> SigningCertificate {
    let chain = Some(CertificateChain { certificates: issued.certificates });
    let certificate = match issued.has_embedded_sct {
        true => IssuedCertificate::SignedCertificateEmbeddedSct(SigningCertificateEmbeddedSct { chain }),
        false => IssuedCertificate::SignedCertificateDetachedSct(SigningCertificateDetachedSct {
            chain,
            signed_certificate_timestamp: issued.detached_sct,
        }),
    };
    SigningCertificate { certificate: Some(certificate) }
}

fn trust_bundle(issuance: &Issuance) -> TrustBundle {
    TrustBundle { chains: vec![CertificateChain { certificates: issuance.bundled().pem().to_vec() }] }
}

fn configuration(issuance: &Issuance) -> Configuration {
    let issuer = |url: &str| OidcIssuer {
        issuer: Some(IssuerName::IssuerUrl(url.to_owned())),
        audience: issuance.verifier.audience().to_owned(),
        challenge_claim: issuance.verifier.issuer_type().challenge_claim().to_owned(),
        issuer_type: issuance.verifier.issuer_type().word().to_owned(),
        ..OidcIssuer::default()
    };
    Configuration { issuers: issuance.verifier.issuers().map(issuer).collect() }
}

fn read<M: Message + Default>(body: &Bytes) -> Result<M, GrpcRefusal> {
    let message = grpc::message(body)?;
    M::decode(message).map_err(|error| {
        GrpcRefusal::new(GrpcCode::Internal, format!("grpc: error unmarshalling request: {error}"))
    })
}
