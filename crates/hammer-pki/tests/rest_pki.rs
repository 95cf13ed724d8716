//! Rest PKI's API, spoken with the embedded service, and what is no answer of it.

use std::rc::Rc;
use std::sync::Arc;

use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_core::clock::MonotonicClock;
use hammer_lab_pki::{PkiLabHandle, PkiLabPlan};
use hammer_measure::connection::ConnectionLog;
use hammer_mutate::{Mutator, cases};
use hammer_net::{Answer, Body, Client, ClientConfig, Request, Secret};
use hammer_pdf::document::Document;
use hammer_pdf::signed::PdfSignature;
use hammer_pki::AnswerFault;
use hammer_pki::rest_pki::{
    AUTHENTICATION, AUTHENTICATIONS, Authenticated, Finished, Nonce, StartRequest, Started, authentication,
    completion, finish, policy, start,
};
use hammer_pki::{InlineDocument, KeyFault, SignatureKind, SigningKey};
use hammer_tlog::keys::chain::TrustedAuthorities;

/// A caller of the embedded service.
struct Caller {
    lab: PkiLabHandle,
    client: Client,
    key: SigningKey,
}

/// A key in PKCS #8, and a certificate of it.
fn key_and_certificate() -> (Vec<u8>, Vec<u8>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
    (key.serialize_der(), certificate.der().to_vec())
}

impl Caller {
    fn new() -> Self {
        let lab = PkiLabHandle::spawn(PkiLabPlan::default()).unwrap();
        let mut config = ClientConfig::new(lab.url.parse().unwrap());
        config.bearer = Some(Secret::new("lab-token").unwrap());
        let clock = Rc::new(MonotonicClock::starting_now());
        let client = Client::new(config, clock, ConnectionLog::default()).unwrap();
        let (pkcs8, certificate) = key_and_certificate();
        Self { lab, client, key: SigningKey::new(&pkcs8, certificate).unwrap() }
    }

    async fn post(&self, path: &str, body: impl Into<Body>) -> Vec<u8> {
        let mut answer = Answer::new();
        let mut request = Request::post(self.client.path(&format!("/{path}")).unwrap(), "");
        request.body = body.into();
        request.headers.insert("content-type", http::HeaderValue::from_static("application/json"));
        self.client.send(&request, &mut answer).await.unwrap();
        assert_eq!(answer.status.as_u16(), 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.body
    }

    async fn sign(&self, kind: SignatureKind, document: &Document) -> Vec<u8> {
        let asked = StartRequest::new(kind, self.key.certificate(), policy(kind), None);
        let body = asked.inline(Arc::new(InlineDocument::new(document.clone())));
        let started = Started::read(&self.post(start(kind), body).await).unwrap();
        let (mut signature, mut body) = (Vec::new(), Vec::new());
        self.key.sign(&started.to_be_signed, &mut signature).unwrap();
        completion(&signature, false, &mut body);
        match Finished::read(&self.post(&finish(kind, &started.token), body).await).unwrap() {
            Finished::File(file) => file,
            Finished::At(url) => panic!("{url}"),
        }
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

#[test]
fn documents_are_signed_in_every_form_whatever_their_length() {
    run(async {
        let caller = Caller::new();
        let signer = KnownSigner::new(caller.key.certificate().to_vec()).unwrap();
        let authority = caller.lab.target().timestamp_authority().pem().join("\n");
        let mut verifier = SignatureVerifier::new(Some(TrustedAuthorities::from_pem(&authority).unwrap()));
        for (number, length) in [1_000, 140_288, 3_000_001].into_iter().enumerate() {
            for kind in SignatureKind::ALL {
                let document = Document::new(5, number as u64, length).unwrap();
                let file = caller.sign(kind, &document).await;
                let sent = document.to_vec();
                let found = kind.is_pdf().then(|| PdfSignature::read(&file, &document).unwrap());
                let (cms, signed) = match &found {
                    Some(found) => (&found.contents, found.signed(&file).to_vec()),
                    None => (&file, vec![sent.as_slice()]),
                };
                let form = if kind.is_pdf() { SignatureForm::Pades } else { SignatureForm::CadesEnveloping };
                let expected = ExpectedSignature {
                    document: &signed,
                    signer: &signer,
                    form,
                    has_timestamp: kind.has_timestamp(),
                    not_before_ms: None,
                    not_after_ms: None,
                };
                verifier.verify(cms, &expected).unwrap_or_else(|why| panic!("{kind:?} of {length}: {why}"));
            }
        }
    });
}

#[test]
fn a_nonce_is_signed_by_itself_or_by_a_token() {
    run(async {
        let caller = Caller::new();
        let (mut signature, mut body) = (Vec::new(), Vec::new());
        let mut answer = Answer::new();
        let asked = Request::get(caller.client.path(&format!("/{AUTHENTICATION}")).unwrap());
        caller.client.send(&asked, &mut answer).await.unwrap();
        let nonce = Nonce::read(&answer.body).unwrap().0;
        caller.key.sign(&nonce, &mut signature).unwrap();
        authentication(Some(&nonce), caller.key.certificate(), &signature, &mut body);
        let passed = caller.post(AUTHENTICATION, body.clone()).await;
        assert_eq!(Authenticated::read(&passed).unwrap().fault, None);
        let started = Started::read(&caller.post(AUTHENTICATIONS, "{}").await).unwrap();
        caller.key.sign(&started.to_be_signed, &mut signature).unwrap();
        authentication(None, caller.key.certificate(), &signature, &mut body);
        let path = format!("{AUTHENTICATIONS}/{}/SignedBytes", started.token);
        assert_eq!(Authenticated::read(&caller.post(&path, body).await).unwrap().fault, None);
    });
}

#[test]
fn what_did_not_pass_validation_is_told_though_the_answer_is_a_success() {
    let body = br#"{"certificate":null,"validationResults":{"errors":[
        {"type":"CertificateExpired","message":"it is old","detail":null}],"warnings":[],"passedChecks":[]}}"#;
    let fault = Authenticated::read(body).unwrap().fault.unwrap();
    assert_eq!((fault.kind.as_str(), fault.message.as_str()), ("CertificateExpired", "it is old"));
    for none in [r#"{}"#, r#"{"validationResults":null}"#, r#"{"validationResults":{}}"#, "<html>", ""] {
        assert!(Authenticated::read(none.as_bytes()).is_err(), "{none}");
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    let started = |token: &str, data: &str, oid: &str| {
        let text = format!(r#"{{"token":"{token}","toSignData":"{data}","digestAlgorithmOid":"{oid}"}}"#);
        Started::read(text.as_bytes()).map_err(|why| why.to_string())
    };
    let sha_256 = "2.16.840.1.101.3.4.2.1";
    assert!(started("a-1", "AAAA", sha_256).is_ok());
    for (token, data, oid) in [
        ("", "AAAA", sha_256),
        ("a/../b", "AAAA", sha_256),
        ("a?b", "AAAA", sha_256),
        ("a", "", sha_256),
        ("a", "****", sha_256),
        ("a", "AAAA", "1.3.14.3.2.26"),
    ] {
        assert!(started(token, data, oid).is_err(), "{token} {data} {oid}");
    }
    for file in ["{}", r#"{"content":""}"#, r#"{"content":"*"}"#, r#"{"content":null,"url":""}"#, "null"] {
        assert!(Finished::read(format!(r#"{{"signatureFile":{file}}}"#).as_bytes()).is_err(), "{file}");
    }
    let at = Finished::read(br#"{"signatureFile":{"content":null,"url":"Api/Blobs/1"}}"#).unwrap();
    assert_eq!(at, Finished::At("Api/Blobs/1".to_owned()));
    // What did not pass validation is refused, whatever stands beside it.
    let errors = r#""validationResults":{"errors":[{"type":"CertificateRevoked"}]}"#;
    let whole = format!(r#"{{"token":"a","toSignData":"AAAA","digestAlgorithmOid":"{sha_256}",{errors}}}"#);
    for body in [whole, format!("{{{errors}}}")] {
        let Err(AnswerFault::Invalid(fault)) = Started::read(body.as_bytes()) else { panic!("{body}") };
        assert_eq!(fault.kind, "CertificateRevoked");
    }
    let file = format!(r#"{{"signatureFile":{{"content":"AAAA"}},{errors}}}"#);
    assert!(matches!(Finished::read(file.as_bytes()), Err(AnswerFault::Invalid(_))));
    let passed = r#"{"signatureFile":{"content":"AAAA"},"validationResults":{"errors":[]}}"#;
    assert!(Finished::read(passed.as_bytes()).is_ok());
    assert!(Nonce::read(br#"{"nonce":"AAA="}"#).is_ok() && Nonce::read(b"{}").is_err());
}

#[test]
fn whatever_comes_back_is_read_or_refused() {
    let answers: [&[u8]; 3] = [
        br#"{"token":"a","toSignData":"AAAA","toSignHash":"","digestAlgorithmOid":"2.16.840.1.101.3.4.2.1"}"#,
        br#"{"signatureFile":{"mimeType":"a","content":"AAAA","blobToken":null,"url":null}}"#,
        br#"{"validationResults":{"errors":[],"warnings":[],"passedChecks":[]}}"#,
    ];
    for (number, answer) in answers.into_iter().enumerate() {
        let mut mutator = Mutator::new(number as u64);
        for _ in 0..cases(2_000) {
            let altered = mutator.any(answer, answers[(number + 1) % 3]);
            let _ = (Started::read(&altered), Finished::read(&altered), Authenticated::read(&altered));
        }
    }
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let [(one, _), (_, other)] = [(); 2].map(|()| key_and_certificate());
    assert_eq!(SigningKey::new(&one, other.clone()).unwrap_err(), KeyFault::Other);
    assert_eq!(SigningKey::new(b"none", other).unwrap_err(), KeyFault::Key);
    assert!(matches!(SigningKey::new(&one, vec![0]), Err(KeyFault::Certificate(_))));
}
