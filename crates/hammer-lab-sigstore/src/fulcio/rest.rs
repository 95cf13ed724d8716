//! Fulcio over HTTP and JSON, as its gateway answers (fulcio.proto and fulcio_legacy.proto of Fulcio v1.8.8).

use bytes::Bytes;
use hammer_lab::serve::{
    answer::{self, AnswerBody},
    grpc::{GrpcCode, GrpcRefusal},
};
use hammer_tlog::encoding::{Base64, base64};
use http::{
    HeaderValue, Method, Response, StatusCode,
    header::{AUTHORIZATION, VARY},
    request::Parts,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    endpoint::{CONFIGURATION, HEALTHZ, ROOT_CERT, SIGNING_CERT_V1, SIGNING_CERT_V2, TRUST_BUNDLE},
    issuance::{Issuance, IssuedChain},
    signing_request::{INVALID_PUBLIC_KEY, KeySource, invalid},
};

/// The answer to a request of this endpoint.
pub(super) async fn answer(
    issuance: &Issuance,
    endpoint: &'static str,
    parts: &Parts,
    body: &Bytes,
) -> Response<AnswerBody> {
    let is_post = [SIGNING_CERT_V1, SIGNING_CERT_V2].contains(&endpoint);
    let wanted = if is_post { Method::POST } else { Method::GET };
    let answered = match endpoint {
        SIGNING_CERT_V1 | SIGNING_CERT_V2 | ROOT_CERT | TRUST_BUNDLE | CONFIGURATION | HEALTHZ
            if parts.method != wanted =>
        {
            Err(GrpcRefusal::new(GrpcCode::Unimplemented, "Method Not Allowed"))
        }
        SIGNING_CERT_V1 => signing_cert_v1(issuance, parts, body).await,
        SIGNING_CERT_V2 => signing_cert_v2(issuance, parts, body).await,
        ROOT_CERT => Ok(answer::ok(PEM_CHAIN, issuance.authority.pem().join("\n"))),
        TRUST_BUNDLE => Ok(trust_bundle(issuance)),
        CONFIGURATION => Ok(configuration(issuance)),
        HEALTHZ => Ok(answer::json(r#"{"status":"SERVING"}"#)),
        _ => Err(GrpcRefusal::new(GrpcCode::NotFound, "Not Found")),
    };
    let mut answer = answered.unwrap_or_else(|refusal| refused(&refusal));
    answer.headers_mut().insert(VARY, HeaderValue::from_static("Origin"));
    answer
}

async fn signing_cert_v1(
    issuance: &Issuance,
    parts: &Parts,
    body: &Bytes,
) -> Result<Response<AnswerBody>, GrpcRefusal> {
    let request: RequestV1 = read(body)?;
    let key = match (&request.certificate_signing_request.0, &request.public_key) {
        (csr, _) if !csr.is_empty() => KeySource::SigningRequest(csr),
        (_, Some(key)) => {
            KeySource::PublicKey { content: &key.content.0, proof: &request.signed_email_address.0 }
        }
        _ => return Err(invalid(INVALID_PUBLIC_KEY)),
    };
    let chain = issuance.issue(bearer_token(parts), key).await?;
    let mut answer = answer::ok(PEM_CHAIN, chain.certificates.join("\n"));
    *answer.status_mut() = StatusCode::CREATED;
    if !chain.detached_sct.is_empty()
        && let Ok(sct) = HeaderValue::try_from(base64(&chain.detached_sct))
    {
        answer.headers_mut().insert(SCT, sct);
    }
    Ok(answer)
}

async fn signing_cert_v2(
    issuance: &Issuance,
    parts: &Parts,
    body: &Bytes,
) -> Result<Response<AnswerBody>, GrpcRefusal> {
    let request: RequestV2 = read(body)?;
    let key = if request.certificate_signing_request.0.is_empty() {
        let PublicKeyRequestV2 { public_key, proof_of_possession } = &request.public_key_request;
        KeySource::PublicKey { content: public_key.content.as_bytes(), proof: &proof_of_possession.0 }
    } else {
        KeySource::SigningRequest(&request.certificate_signing_request.0)
    };
    let token = match request.credentials.oidc_identity_token.as_str() {
        "" => bearer_token(parts),
        token => token,
    };
    Ok(json_answer(&signing_certificate(&issuance.issue(token, key).await?)))
}

fn signing_certificate(issued: &IssuedChain) -> SigningCertificate<'_> {
    let chain = CertificateChain { certificates: &issued.certificates };
    match issued.has_embedded_sct {
        true => SigningCertificate::SignedCertificateEmbeddedSct { chain },
        false => SigningCertificate::SignedCertificateDetachedSct {
            chain,
            signed_certificate_timestamp: base64(&issued.detached_sct),
        },
    }
}

fn trust_bundle(issuance: &Issuance) -> Response<AnswerBody> {
    let certificates = issuance.bundled().pem();
    json_answer(&TrustBundle { chains: [CertificateChain { certificates }] })
}

fn configuration(issuance: &Issuance) -> Response<AnswerBody> {
    let audience = issuance.verifier.audience();
    let issuer = |issuer_url| OidcIssuer {
        issuer_url,
        audience,
        challenge_claim: issuance.verifier.issuer_type().challenge_claim(),
        spiffe_trust_domain: "",
        issuer_type: issuance.verifier.issuer_type().word(),
        subject_domain: "",
        skip_email_verification: false,
    };
    json_answer(&Configuration { issuers: issuance.verifier.issuers().map(issuer).collect() })
}

/// The token of `Authorization: Bearer`; empty without one.
fn bearer_token(parts: &Parts) -> &str {
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    header.strip_prefix("Bearer ").unwrap_or(header)
}

/// The message of a body in JSON; an empty body is an empty message.
fn read<T: DeserializeOwned + Default>(body: &Bytes) -> Result<T, GrpcRefusal> {
    if body.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_slice(body).map_err(|error| invalid(&format!("proto: {error}")))
}

fn json_answer(message: &impl Serialize) -> Response<AnswerBody> {
    // Structs of strings and numbers always have a JSON text.
    answer::json(serde_json::to_vec(message).unwrap_or_default())
}

/// A refusal as the gateway writes it: `google.rpc.Status` in JSON, under the status that stands for its code.
fn refused(refusal: &GrpcRefusal) -> Response<AnswerBody> {
    let status = match refusal.code {
        GrpcCode::InvalidArgument => StatusCode::BAD_REQUEST,
        GrpcCode::NotFound => StatusCode::NOT_FOUND,
        GrpcCode::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let code = refusal.code as u8;
    let mut answer = json_answer(&RefusalStatus { code, message: &refusal.message, details: [] });
    *answer.status_mut() = status;
    answer
}

/// `dev.sigstore.fulcio.v1beta.CreateSigningCertificateRequest`. Unknown fields are ignored, as by the gateway.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestV1 {
    public_key: Option<PublicKeyV1>,
    signed_email_address: Base64,
    certificate_signing_request: Base64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PublicKeyV1 {
    content: Base64,
}

/// `dev.sigstore.fulcio.v2.CreateSigningCertificateRequest`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestV2 {
    credentials: CredentialsV2,
    public_key_request: PublicKeyRequestV2,
    certificate_signing_request: Base64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CredentialsV2 {
    oidc_identity_token: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PublicKeyRequestV2 {
    public_key: PublicKeyV2,
    proof_of_possession: Base64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PublicKeyV2 {
    content: String,
}

/// `dev.sigstore.fulcio.v2.SigningCertificate`, whose fields are written even where they are empty.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum SigningCertificate<'a> {
    SignedCertificateDetachedSct { chain: CertificateChain<'a>, signed_certificate_timestamp: String },
    SignedCertificateEmbeddedSct { chain: CertificateChain<'a> },
}

#[derive(Serialize)]
struct CertificateChain<'a> {
    certificates: &'a [String],
}

#[derive(Serialize)]
struct TrustBundle<'a> {
    chains: [CertificateChain<'a>; 1],
}

#[derive(Serialize)]
struct Configuration<'a> {
    issuers: Vec<OidcIssuer<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OidcIssuer<'a> {
    issuer_url: &'a str,
    audience: &'a str,
    challenge_claim: &'a str,
    spiffe_trust_domain: &'a str,
    issuer_type: &'a str,
    subject_domain: &'a str,
    skip_email_verification: bool,
}

/// `google.rpc.Status`, without details.
#[derive(Serialize)]
struct RefusalStatus<'a> {
    code: u8,
    message: &'a str,
    details: [(); 0],
}

/// The header with an SCT that is not in the certificate.
const SCT: &str = "sct";
const PEM_CHAIN: &str = "application/pem-certificate-chain";
