//! The service as its callers meet it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use hammer_cms::signature::KnownSigner;
use hammer_cms::signature::{ExpectedSignature, SignatureFault, SignatureForm, SignatureVerifier};
use hammer_cms::timestamp::{
    ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampQuery, TimestampVerifier,
};
use hammer_lab_authority::certificate::name;
use hammer_lab_authority::der::UTF8_STRING;
use hammer_lab_authority::{Authority, LabSigner};
use hammer_lab_pki::{LieRule, PkiLabHandle, PkiLabPlan, PkiLieKind};
use hammer_pdf::document::Document;
use hammer_pdf::signed::PdfSignature;
use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::keys::chain::TrustedAuthorities;
use serde_json::{Value, json};

pub(crate) const CADES: &str = "a4522485-c9e5-46c3-950b-0d6e951e17d1";
pub(crate) const CADES_T: &str = "a5332ad1-d105-447c-a4bb-b5d02177e439";
pub(crate) const PADES: &str = "78d20b33-014d-440e-ad07-929f05d00cdf";
pub(crate) const PADES_T: &str = "6a39aeea-a2d0-4754-bf8c-19da15296ddb";

/// The service, and a caller with a key.
pub(crate) struct Caller {
    pub(crate) lab: PkiLabHandle,
    signer: Authority,
    token: &'static str,
}

impl Caller {
    pub(crate) fn of(plan: PkiLabPlan) -> Self {
        Self::at(PkiLabHandle::spawn(plan).unwrap())
    }

    pub(crate) fn at(lab: PkiLabHandle) -> Self {
        let key = LabSigner::p256("caller", 1).unwrap();
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let signer = Authority::root(key, name(UTF8_STRING, "test", "caller"), None, now);
        Self { lab, signer, token: "lab-token" }
    }

    pub(crate) fn lying(kind: PkiLieKind) -> Self {
        Self::of(PkiLabPlan { lies: vec![LieRule::of(kind)], ..PkiLabPlan::default() })
    }

    /// The status and the JSON that a request is answered with.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (status, body) = self.ask_bytes(method, path, body.to_string().as_bytes());
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    fn ask_bytes(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        self.ask_of(method, path, "application/json", body)
    }

    fn ask_of(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(self.lab.url.strip_prefix("http://").unwrap()).unwrap();
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nhost: lab\r\nconnection: close\r\nauthorization: Bearer {}\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    fn certificate(&self) -> String {
        base64(self.signer.certificate())
    }

    /// Signs a document; the file that comes back.
    pub(crate) fn sign(&self, pdf: bool, policy: &str, document: &[u8]) -> Vec<u8> {
        let started = self.start(pdf, policy, document);
        let finished = self.finish(pdf, &started, json!({}));
        from_base64(finished["signatureFile"]["content"].as_str().unwrap()).unwrap()
    }

    fn start(&self, pdf: bool, policy: &str, document: &[u8]) -> Value {
        let (path, file) = if pdf {
            ("Api/v2/PadesSignatures", "pdfToSign")
        } else {
            ("Api/v3/CadesSignatures", "fileToSign")
        };
        let content =
            json!({ "mimeType": "application/pdf", "content": base64(document), "blobToken": null });
        let asked = json!({ "certificate": self.certificate(), "signaturePolicyId": policy, file: content });
        let (status, started) = self.ask("POST", path, &asked);
        assert_eq!(status, 200, "{started}");
        started
    }

    fn finish(&self, pdf: bool, started: &Value, mut asked: Value) -> Value {
        let to_be_signed = from_base64(started["toSignData"].as_str().unwrap()).unwrap();
        asked["signature"] = json!(base64(&self.signer.signer().sign(&to_be_signed)));
        let kind = if pdf { "Pades" } else { "Cades" };
        let token = started["token"].as_str().unwrap();
        let (status, finished) =
            self.ask("POST", &format!("Api/v2/{kind}Signatures/{token}/SignedBytes"), &asked);
        assert_eq!(status, 200, "{finished}");
        finished
    }

    /// What is wrong with the signature in a CMS over the document.
    fn fault(
        &self,
        cms: &[u8],
        document: &[&[u8]],
        form: SignatureForm,
        has_timestamp: bool,
    ) -> Option<&'static str> {
        let authority = self.lab.target().timestamp_authority().pem().join("\n");
        let mut verifier = SignatureVerifier::new(Some(TrustedAuthorities::from_pem(&authority).unwrap()));
        let now_ms = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
        let expected = ExpectedSignature {
            document,
            signer: &KnownSigner::new(self.signer.certificate().to_vec()).unwrap(),
            form,
            has_timestamp,
            not_before_ms: Some(now_ms - 60_000),
            not_after_ms: Some(now_ms + 60_000),
        };
        verifier.verify(cms, &expected).err().map(|fault: SignatureFault| fault.kind())
    }

    fn fault_of_cades(&self, policy: &str) -> Option<&'static str> {
        let cms = self.sign(false, policy, b"a document");
        self.fault(&cms, &[b"a document"], SignatureForm::CadesEnveloping, policy == CADES_T)
    }

    fn fault_of_pades(&self, policy: &str) -> Option<&'static str> {
        let sent = Document::new(1, 2, 5_000).unwrap();
        let file = self.sign(true, policy, &sent.to_vec());
        match PdfSignature::read(&file, &sent) {
            Ok(found) => {
                let signed = found.signed(&file);
                self.fault(&found.contents, &signed, SignatureForm::Pades, policy == PADES_T)
            }
            Err(fault) => Some(fault.kind()),
        }
    }
}

#[test]
fn what_is_signed_holds_in_every_form() {
    let caller = Caller::of(PkiLabPlan::default());
    for policy in [CADES, CADES_T] {
        assert_eq!(caller.fault_of_cades(policy), None);
    }
    for policy in [PADES, PADES_T] {
        assert_eq!(caller.fault_of_pades(policy), None);
    }
    assert_eq!(caller.lab.target().told_lies().0, []);
}

#[test]
fn each_lie_is_what_it_says_and_is_owned_up_to() {
    use PkiLieKind::{
        AnotherDocument, AnotherSigner, ByteRangeHole, ChangedDocument, MissingAttribute, NoTimestamp,
        StaleTimestamp, TimestampOverAnotherImprint,
    };
    for (kind, of_cades, of_pades) in [
        (AnotherDocument, Some("message-digest"), Some("message-digest")),
        (AnotherSigner, Some("another-signer"), Some("another-signer")),
        (MissingAttribute, Some("signature-attributes"), Some("signature-attributes")),
        (ChangedDocument, None, Some("changed-document")),
        (ByteRangeHole, None, Some("byte-range")),
        (NoTimestamp, Some("missing-timestamp"), Some("missing-timestamp")),
        (StaleTimestamp, Some("timestamp-time"), Some("timestamp-time")),
        (TimestampOverAnotherImprint, Some("timestamp-imprint"), Some("timestamp-imprint")),
    ] {
        let caller = Caller::lying(kind);
        assert_eq!(caller.fault_of_cades(CADES_T), of_cades, "{kind:?}");
        assert_eq!(caller.fault_of_pades(PADES_T), of_pades, "{kind:?}");
        let (told, unlisted) = caller.lab.target().told_lies();
        let kinds: Vec<_> = told.iter().map(|told| told.kind).collect();
        assert_eq!(kinds, vec![kind; usize::from(of_cades.is_some()) + 1]);
        assert_eq!(unlisted, 0);
    }
}

#[test]
fn a_caller_is_authenticated_by_a_nonce_that_is_signed_once() {
    let caller = Caller::of(PkiLabPlan::default());
    let sign =
        |text: &Value| base64(&caller.signer.signer().sign(&from_base64(text.as_str().unwrap()).unwrap()));
    let (_, given) = caller.ask("GET", "Api/Authentication", &json!({}));
    let nonce = &given["nonce"];
    let shown = json!({ "nonce": nonce, "certificate": caller.certificate(), "signature": sign(nonce) });
    let (status, answer) = caller.ask("POST", "Api/Authentication", &shown);
    assert_eq!((status, &answer["validationResults"]["errors"]), (200, &json!([])), "{answer}");
    let (status, answer) = caller.ask("POST", "Api/Authentication", &shown);
    assert_eq!((status, &answer["code"]), (422, &json!("ValidationError")), "{answer}");
    let (_, started) = caller.ask("POST", "Api/Authentications", &json!({}));
    let path = format!("Api/Authentications/{}/SignedBytes", started["token"].as_str().unwrap());
    let of_another = json!({ "certificate": caller.certificate(), "signature": sign(nonce) });
    let (status, answer) = caller.ask("POST", &path, &of_another);
    let error = &answer["validationResults"]["errors"][0]["type"];
    assert_eq!((status, error), (200, &json!("SignatureAlgorithmValidationFailed")), "{answer}");
    let (_, started) = caller.ask("POST", "Api/Authentications", &json!({}));
    let path = format!("Api/Authentications/{}/SignedBytes", started["token"].as_str().unwrap());
    let right = json!({ "certificate": caller.certificate(), "signature": sign(&started["toSignData"]) });
    assert_eq!(caller.ask("POST", &path, &right).0, 200);
}

#[test]
fn a_document_is_uploaded_in_parts_and_the_result_fetched_besides() {
    let caller = Caller::of(PkiLabPlan::default());
    let (_, begun) = caller.ask("POST", "Api/MultipartUploads", &json!({}));
    let blob = begun["blobToken"].as_str().unwrap();
    for (number, part) in [(1, &b"document"[..]), (0, b"a ")] {
        assert_eq!(caller.ask_bytes("POST", &format!("Api/MultipartUploads/{blob}/{number}"), part).0, 200);
    }
    assert_eq!(caller.ask("POST", &format!("Api/MultipartUploads/{blob}"), &json!({})).0, 200);
    let asked = json!({
        "certificate": caller.certificate(),
        "signaturePolicyId": CADES,
        "fileToSign": { "blobToken": blob },
    });
    let (_, started) = caller.ask("POST", "Api/v3/CadesSignatures", &asked);
    let finished = caller.finish(false, &started, json!({ "forceBlobResult": true }));
    let url = finished["signatureFile"]["url"].as_str().unwrap();
    let (status, cms) = caller.ask_bytes("GET", url, b"");
    assert_eq!(status, 200);
    assert_eq!(caller.fault(&cms, &[b"a document"], SignatureForm::CadesEnveloping, false), None);
}

#[test]
fn what_cannot_be_done_is_refused_in_the_services_own_words() {
    let mut caller = Caller::of(PkiLabPlan::default());
    let code = |caller: &Caller, path: &str, body: Value| {
        let (status, answer) = caller.ask("POST", path, &body);
        (status, answer["code"].as_str().unwrap_or_default().to_owned())
    };
    let start = "Api/v3/CadesSignatures";
    let certificate = caller.certificate();
    let refused = |of: &str| (422, of.to_owned());
    let asked = json!({ "certificate": certificate, "signaturePolicyId": "none" });
    assert_eq!(code(&caller, start, asked), refused("SignaturePolicyNotFound"));
    let asked = json!({ "certificate": "AAAA", "signaturePolicyId": CADES });
    assert_eq!(code(&caller, start, asked), refused("InvalidCertificate"));
    let pdf = json!({ "content": base64(b"no PDF") });
    let asked = json!({ "certificate": certificate, "signaturePolicyId": PADES, "pdfToSign": pdf });
    assert_eq!(code(&caller, "Api/v2/PadesSignatures", asked), refused("InvalidPdf"));
    let asked = json!({ "signature": "AAAA" });
    assert_eq!(code(&caller, "Api/v2/CadesSignatures/none/SignedBytes", asked), refused("TokenNotFound"));
    let started = caller.start(false, CADES, b"a document");
    let path = format!("Api/v2/CadesSignatures/{}/SignedBytes", started["token"].as_str().unwrap());
    assert_eq!(code(&caller, &path, json!({ "signature": base64(b"none") })), refused("ValidationError"));
    assert_eq!(code(&caller, start, json!({ "signaturePolicyId": CADES })).0, 400);
    assert_eq!(code(&caller, "Api/v9", json!({})).0, 404);
    caller.token = "another";
    assert_eq!(code(&caller, start, json!({})).0, 401);
}

#[test]
fn a_timestamp_is_over_the_hash_that_was_sent() {
    let caller = Caller::of(PkiLabPlan::default());
    let authority = caller.lab.target().timestamp_authority().pem().join("\n");
    let mut verifier = TimestampVerifier::new(TrustedAuthorities::from_pem(&authority).unwrap());
    let hash = hammer_tlog::hash::sha256(b"a document");
    let asked = json!({ "algorithm": "SHA256", "value": base64(&hash.0) });
    let (status, answer) = caller.ask("POST", "Api/TimestampPlans/any/Issue", &asked);
    assert_eq!(status, 200, "{answer}");
    let token = from_base64(answer["encodedValue"].as_str().unwrap()).unwrap();
    let expected = |message| ExpectedTimestamp {
        imprint: ExpectedImprint::Message(message),
        nonce: None,
        not_before_ms: None,
        not_after_ms: None,
    };
    assert!(verifier.verify_token(&token, &expected(b"a document")).is_ok());
    assert!(verifier.verify_token(&token, &expected(b"another")).is_err());
    let short = json!({ "algorithm": "SHA512", "value": base64(&hash.0) });
    assert_eq!(caller.ask("POST", "Api/TimestampPlans/any/Issue", &short).0, 422);
}

/// The response of the authority to a query (RFC 3161), as it is verified.
fn replied(caller: &Caller, query: &[u8], expected: &ExpectedTimestamp<'_>) -> Result<bool, TimestampFault> {
    let authority = caller.lab.target().timestamp_authority().pem().join("\n");
    let mut verifier = TimestampVerifier::new(TrustedAuthorities::from_pem(&authority).unwrap());
    let (status, response) = caller.ask_of("POST", "tsa", "application/timestamp-query", query);
    assert_eq!(status, 200);
    verifier.verify(&response, expected).map(|verified| verified.has_certificate)
}

#[test]
fn a_query_is_replied_to_with_its_nonce_and_with_the_certificate_where_that_is_asked_for() {
    let caller = Caller::of(PkiLabPlan::default());
    let imprint_sha256 = hammer_tlog::hash::sha256(b"a document").0;
    for (nonce, certificates) in [(None, true), (Some(1 << 63), true), (Some(0), false)] {
        let mut query = Vec::new();
        TimestampQuery { imprint_sha256, nonce, certificates }.write(&mut query);
        let imprint = ExpectedImprint::Sha256(&imprint_sha256);
        let expected = ExpectedTimestamp { imprint, nonce, not_before_ms: None, not_after_ms: None };
        assert_eq!(replied(&caller, &query, &expected), Ok(certificates));
        let other = ExpectedTimestamp { nonce: Some(7), ..expected };
        assert_eq!(replied(&caller, &query, &other), Err(TimestampFault::Nonce));
        let refused = replied(&caller, &query[1..], &expected).unwrap_err();
        assert!(refused.to_string().contains("rejection (badDataFormat): \"the query"), "{refused}");
        // SHA-1 in the place of SHA-256.
        let sha1: &[u8] = &[0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a];
        let imprint = [&[0x30, 0x1f, 0x30, 0x07], sha1, &[0x04, 0x14], &[0; 20]].concat();
        let refused = replied(&caller, &[&[0x30, 0x24, 2, 1, 1], &imprint[..]].concat(), &expected);
        assert!(refused.unwrap_err().to_string().contains("rejection (badAlg)"));
        assert_eq!(caller.ask_of("POST", "tsa", "application/json", &query).0, 415);
    }
}

#[test]
fn a_lie_about_a_reply_is_told_of_it_and_owned_up_to() {
    use PkiLieKind::{
        AnotherDocument, NoTimestamp, StaleTimestamp, TimestampOverAnotherImprint, TimestampWithAnotherNonce,
    };
    let imprint_sha256 = hammer_tlog::hash::sha256(b"a document").0;
    let (nonce, imprint) = (Some(3), ExpectedImprint::Sha256(&imprint_sha256));
    let mut query = Vec::new();
    TimestampQuery { imprint_sha256, nonce, certificates: true }.write(&mut query);
    let now_ms = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    let not_before_ms = Some(now_ms - 60_000);
    let expected = ExpectedTimestamp { imprint, nonce, not_before_ms, not_after_ms: None };
    for (kind, fault) in [
        (NoTimestamp, Some("malformed-timestamp")),
        (StaleTimestamp, Some("timestamp-time")),
        (TimestampOverAnotherImprint, Some("timestamp-imprint")),
        (TimestampWithAnotherNonce, Some("timestamp-nonce")),
        (AnotherDocument, None),
    ] {
        let caller = Caller::lying(kind);
        assert_eq!(replied(&caller, &query, &expected).err().map(|fault| fault.kind()), fault, "{kind:?}");
        let told = caller.lab.target().told_lies().0;
        assert_eq!(told.iter().map(|told| told.kind).collect::<Vec<_>>(), fault.map(|_| kind).as_slice());
    }
}
