//! Fulcio over gRPC.

use hammer_lab_sigstore::FulcioLabPlan;
use hammer_messages::{
    fulcio::{
        CREATE_SIGNING_CERTIFICATE, Configuration, CreateSigningCertificateRequest, Credentials,
        GET_CONFIGURATION, GET_TRUST_BUNDLE, GetTrustBundleRequest, IssuedCertificate, PublicKey,
        PublicKeyRequest, RequestedKey, SigningCertificate, TrustBundle,
    },
    health::{CHECK, HealthCheckRequest, HealthCheckResponse, ServingStatus},
};
use hammer_tlog::keys::certificate::Certificate;
use prost::Message;

use crate::{
    client::{Answer, request, send_http2},
    openssl::{certificates, pem},
    signer::{Signer, fulcio},
};

async fn call(url: &str, method: &str, message: &impl Message) -> Answer {
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let body = [&[0], length.as_slice(), &message].concat();
    let headers = [("content-type", "application/grpc"), ("te", "trailers")];
    send_http2(request("POST", &format!("{url}{method}"), &headers, body)).await
}

fn message<M: Message + Default>(answer: &Answer) -> M {
    assert_eq!(answer.trailers.get("grpc-status").unwrap(), "0");
    M::decode(&answer.body[5..]).unwrap()
}

fn asked(signer: &Signer, proof: Vec<u8>) -> CreateSigningCertificateRequest {
    let public_key = Some(PublicKey { algorithm: 2, content: pem("PUBLIC KEY", signer.key.spki()) });
    let key = RequestedKey::PublicKeyRequest(PublicKeyRequest { public_key, proof_of_possession: proof });
    let credentials = Some(Credentials { oidc_identity_token: Some(signer.token()) });
    CreateSigningCertificateRequest { credentials, key: Some(key) }
}

#[tokio::test]
async fn a_certificate_is_issued_over_grpc_as_over_rest() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let signer = Signer::new();
    let answer = call(&fulcio.url, CREATE_SIGNING_CERTIFICATE, &asked(&signer, signer.proof())).await;
    let issued: SigningCertificate = message(&answer);
    let Some(IssuedCertificate::SignedCertificateDetachedSct(issued)) = issued.certificate else {
        panic!("{issued:?}")
    };
    let chain = issued.chain.unwrap().certificates;
    assert_eq!(chain.len(), 2);
    let leaf = certificates(&chain[0]).remove(0);
    assert_eq!(Certificate::parse(&leaf).unwrap().spki, signer.key.spki());
    assert_eq!(fulcio.stats().requests["signing-cert-grpc"][&200], 1);
}

#[tokio::test]
async fn a_refusal_over_grpc_has_the_code_and_the_text_of_rest() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let signer = Signer::new();
    let wrong_proof = asked(&signer, signer.key.sign(b"else"));
    let no_token = CreateSigningCertificateRequest { credentials: None, ..wrong_proof.clone() };
    for (asked, text) in [
        (wrong_proof, "The signature supplied in the request could not be verified"),
        (no_token, "There was an error processing the identity token"),
    ] {
        let answer = call(&fulcio.url, CREATE_SIGNING_CERTIFICATE, &asked).await;
        assert_eq!((answer.header("grpc-status"), answer.header("grpc-message")), ("3", text));
    }
    let answer = call(&fulcio.url, "/dev.sigstore.fulcio.v2.CA/Else", &GetTrustBundleRequest {}).await;
    assert_eq!(answer.header("grpc-status"), "12");
}

#[tokio::test]
async fn what_to_trust_and_whose_tokens_are_taken_is_told_over_grpc() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let bundle: TrustBundle = message(&call(&fulcio.url, GET_TRUST_BUNDLE, &GetTrustBundleRequest {}).await);
    assert_eq!(
        certificates(&bundle.chains[0].certificates[0])[0],
        fulcio.target().authority().root_certificate()
    );
    let configuration: Configuration =
        message(&call(&fulcio.url, GET_CONFIGURATION, &GetTrustBundleRequest {}).await);
    assert_eq!(configuration.issuers[0].audience, "sigstore");
    let health: HealthCheckResponse =
        message(&call(&fulcio.url, CHECK, &HealthCheckRequest::default()).await);
    assert_eq!(health.status, ServingStatus::Serving as i32);
}
