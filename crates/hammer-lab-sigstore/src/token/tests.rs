use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hammer_mutate::{Mutator, cases};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};

use super::*;

const RECORDED_TOKEN: &str = include_str!("../../testdata/fulcio/v1-token.jwt");
const RECORDED_KEYS: &[u8] = include_bytes!("../../testdata/fulcio/jwks.json");
/// When the recorded token was issued.
const ISSUED: u64 = 1_795_243_690;

fn recorded(audience: &str, issuer: &str) -> TokenVerifier {
    let issuer = TrustedIssuer { issuer: issuer.to_owned(), jwks: RECORDED_KEYS.to_vec() };
    TokenVerifier::new(audience.to_owned(), &[issuer]).unwrap()
}

/// An issuer with a P-256 key of its own, which signs whatever claims it is given.
struct TestIssuer {
    pair: EcdsaKeyPair,
}

impl TestIssuer {
    fn new() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self { pair: EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap() }
    }

    fn verifier(&self) -> TokenVerifier {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let jwks = serde_json::json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "kid": "other", "x": encode(x)},
            {"kty": "EC", "crv": "P-256", "kid": "k2", "x": encode(x), "y": encode(y)},
        ]});
        let issuer = TrustedIssuer { issuer: "http://issuer".into(), jwks: jwks.to_string().into() };
        TokenVerifier::new("sigstore".into(), &[issuer]).unwrap()
    }

    fn token(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    fn verdict(&self, claims: &str) -> Result<Identity, TokenFault> {
        self.verifier().verify(&self.token(r#"{"alg":"ES256","kid":"k2"}"#, claims), 1000)
    }
}

const CLAIMS: &str =
    r#"{"iss":"http://issuer","sub":"s","aud":"sigstore","exp":1000,"email":"a@b","email_verified":true}"#;

#[test]
fn a_recorded_token_names_its_owner_until_it_expires() {
    let verifier = recorded("sigstore", "http://127.0.0.1:18888");
    let identity = verifier.verify(RECORDED_TOKEN, ISSUED + 3600).unwrap();
    assert_eq!(identity.name, CertifiedName::Email("jdoe@redhat.com".to_owned()));
    assert_eq!(identity.subject, "jdoe");
    assert_eq!(identity.issuer, "http://127.0.0.1:18888");
    assert_eq!(verifier.verify(RECORDED_TOKEN, ISSUED + 3601), Err(TokenFault::Claim(ClaimFault::Expired)));
}

#[test]
fn a_token_for_another_audience_or_of_another_issuer_is_refused() {
    let fault = |audience, issuer| recorded(audience, issuer).verify(RECORDED_TOKEN, ISSUED).unwrap_err();
    assert_eq!(fault("else", "http://127.0.0.1:18888"), TokenFault::Claim(ClaimFault::Audience));
    assert_eq!(fault("sigstore", "http://127.0.0.1:18889"), TokenFault::Issuer);
}

#[test]
fn a_token_whose_signature_was_altered_or_is_of_another_key_is_refused() {
    let verifier = recorded("sigstore", "http://127.0.0.1:18888");
    let (signed, signature) = RECORDED_TOKEN.rsplit_once('.').unwrap();
    let altered = format!("{signed}.{}", signature.replacen('L', "M", 1));
    assert_eq!(verifier.verify(&altered, ISSUED), Err(TokenFault::Signature));
    let (issuer, another) = (TestIssuer::new(), TestIssuer::new());
    let token = another.token(r#"{"alg":"ES256","kid":"k2"}"#, CLAIMS);
    assert_eq!(issuer.verifier().verify(&token, 1000), Err(TokenFault::Signature));
    assert!(another.verifier().verify(&token, 1000).is_ok());
}

#[test]
fn a_header_that_names_an_unknown_key_or_another_algorithm_is_refused_and_one_without_a_key_is_not() {
    let issuer = TestIssuer::new();
    let verdict = |header| issuer.verifier().verify(&issuer.token(header, CLAIMS), 1000);
    assert!(verdict(r#"{"alg":"ES256"}"#).is_ok());
    assert_eq!(verdict(r#"{"alg":"ES256","kid":"other"}"#), Err(TokenFault::Signature));
    assert_eq!(verdict(r#"{"alg":"RS256","kid":"k2"}"#), Err(TokenFault::Signature));
    assert_eq!(verdict(r#"{"alg":"none"}"#), Err(TokenFault::Signature));
}

#[test]
fn claims_are_read_in_every_form_that_providers_write() {
    let issuer = TestIssuer::new();
    let several = CLAIMS.replace(r#""sigstore""#, r#"["else","sigstore"]"#);
    let text = CLAIMS.replace("true", r#""true""#);
    let fraction = CLAIMS.replace("1000", "1000.5");
    for claims in [several, text, fraction] {
        assert!(issuer.verdict(&claims).is_ok(), "{claims}");
    }
}

#[test]
fn a_token_is_refused_for_the_claim_that_is_wrong() {
    let issuer = TestIssuer::new();
    for (claims, fault) in [
        (CLAIMS.replace("1000", "999"), TokenFault::Claim(ClaimFault::Expired)),
        (CLAIMS.replace(r#""exp":1000,"#, ""), TokenFault::Claim(ClaimFault::Expired)),
        (CLAIMS.replace(r#""exp""#, r#""nbf":1301,"exp""#), TokenFault::Claim(ClaimFault::NotYetValid)),
        (CLAIMS.replace(":true", ":false"), TokenFault::Unverified),
        (CLAIMS.replace(r#","email_verified":true"#, ""), TokenFault::Unverified),
        (CLAIMS.replace("a@b", ""), TokenFault::Email),
        (CLAIMS.replace("a@b", "a@b@c"), TokenFault::Email),
        (CLAIMS.replace("a@b", "\u{fc}@b"), TokenFault::Email),
        (CLAIMS.replace(r#""sub":"s""#, r#""sub":1"#), TokenFault::Malformed(MalformedJws)),
        ("{".to_owned(), TokenFault::Malformed(MalformedJws)),
    ] {
        assert_eq!(issuer.verdict(&claims), Err(fault), "{claims}");
    }
}

#[test]
fn what_is_no_token_is_malformed() {
    let verifier = TestIssuer::new().verifier();
    for text in ["", ".", "..", "a.b.c", "e30.e30"] {
        assert_eq!(verifier.verify(text, 0), Err(TokenFault::Malformed(MalformedJws)), "{text:?}");
    }
}

#[test]
fn an_altered_token_is_refused_and_panics_nobody() {
    let verifier = recorded("sigstore", "http://127.0.0.1:18888");
    let mut mutator = Mutator::new(1);
    for _ in 0..cases(2000) {
        let altered = mutator.bytes(RECORDED_TOKEN.as_bytes(), b"eyJhbGciOiJub25lIn0.");
        let altered = String::from_utf8_lossy(&altered);
        assert!(altered == RECORDED_TOKEN || verifier.verify(&altered, ISSUED).is_err(), "{altered}");
    }
}

#[test]
fn an_altered_set_of_keys_is_refused_or_read_and_panics_nobody() {
    let mut mutator = Mutator::new(2);
    let mut read = 0;
    for _ in 0..cases(2000) {
        let issuer =
            TrustedIssuer { issuer: "http://127.0.0.1:18888".into(), jwks: mutator.json(RECORDED_KEYS) };
        let Ok(verifier) = TokenVerifier::new("sigstore".into(), &[issuer]) else { continue };
        // The keys are looked at, whatever they are.
        read += u64::from(verifier.verify(RECORDED_TOKEN, ISSUED) == Err(TokenFault::Signature));
    }
    assert!(read > 0);
}

#[test]
fn the_type_of_an_issuer_says_whom_a_certificate_names_and_what_is_proved_to_it() {
    let issuer = TestIssuer::new();
    let of = |issuer_type: IssuerType, subject: &str| {
        let claims = CLAIMS.replace(r#""sub":"s""#, &format!(r#""sub":"{subject}""#));
        let token = issuer.token(r#"{"alg":"ES256","kid":"k2"}"#, &claims);
        let identity = issuer.verifier().of_type(issuer_type).verify(&token, 1000)?;
        Ok((identity.challenge, identity.name))
    };
    let account = "system:serviceaccount:ci:signer";
    let uri = "https://kubernetes.io/namespaces/ci/serviceaccounts/signer".to_owned();
    assert_eq!(of(IssuerType::Kubernetes, account), Ok((account.to_owned(), CertifiedName::Uri(uri))));
    assert_eq!(of(IssuerType::Kubernetes, "jdoe"), Err(TokenFault::Subject));
    let user = CertifiedName::Username("jdoe!hammer.test".to_owned());
    assert_eq!(of(IssuerType::Username, "jdoe"), Ok(("jdoe".to_owned(), user)));
    assert_eq!(of(IssuerType::Username, "jdoe!a"), Err(TokenFault::Subject));
    let address = CertifiedName::Email("a@b".to_owned());
    assert_eq!(of(IssuerType::Email, "jdoe"), Ok(("a@b".to_owned(), address)));
}
