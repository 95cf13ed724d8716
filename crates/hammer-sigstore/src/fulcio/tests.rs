use hammer_tlog::encoding::base64;
use hammer_tlog::keys::certificate::Certificate;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use super::*;

const V1: &[u8] = include_bytes!("../../testdata/fulcio-v1-response.pem");
const V2: &[u8] = include_bytes!("../../testdata/fulcio-v2-response.json");

fn material() -> FlowMaterial {
    FlowMaterial { spki: vec![1; 91], proof: vec![2; 71], ..FlowMaterial::default() }
}

#[test]
fn recorded_chains_are_read_leaf_first() {
    for (interface, body) in [(FulcioInterface::V1, V1), (FulcioInterface::V2, V2)] {
        let chain = chain(interface, body).unwrap();
        let [leaf, root] = chain.as_slice() else { panic!("two certificates") };
        let (leaf, root) = (Certificate::parse(leaf).unwrap(), Certificate::parse(root).unwrap());
        assert!(leaf.issuer == root.subject && root.is_ca() && !leaf.is_ca());
    }
}

#[test]
fn the_leaf_is_one_certificate_with_the_digits_of_its_der() {
    for (interface, body) in [(FulcioInterface::V1, V1), (FulcioInterface::V2, V2)] {
        let mut text = String::from("what was there before");
        leaf(interface, body, &mut text).unwrap();
        assert!(text.ends_with("-----END CERTIFICATE-----\n") && text.matches("BEGIN").count() == 1);
        let der = chain(interface, body).unwrap().remove(0);
        assert_eq!(digits(&text).collect::<String>(), base64(&der));
    }
}

#[test]
fn what_holds_no_certificate_is_told_apart() {
    for (interface, body, why) in [
        (FulcioInterface::V1, &b"{}"[..], NO_CERTIFICATE),
        (FulcioInterface::V1, b"\xff", NO_CERTIFICATE),
        (FulcioInterface::V2, b"{}", NO_CERTIFICATE),
        (FulcioInterface::V2, b"-----BEGIN", NOT_JSON),
        (FulcioInterface::V1, b"-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n", BROKEN_PEM),
    ] {
        assert_eq!(chain(interface, body), Err(why));
    }
}

#[test]
fn requests_are_json_that_says_what_it_should() {
    let mut body = vec![9];
    write_v1(&mut body, &material(), CertificateRequest::Key);
    let read: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(read["publicKey"]["content"], base64(&[1; 91]));
    assert_eq!(read["signedEmailAddress"], base64(&[2; 71]));
    write_v2(&mut body, &material(), CertificateRequest::Key, "a.b.c");
    let read: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(read["credentials"]["oidcIdentityToken"], "a.b.c");
    let request = &read["publicKeyRequest"];
    let key = request["publicKey"]["content"].as_str().unwrap();
    assert!(key.starts_with("-----BEGIN PUBLIC KEY-----\n") && key.ends_with("-----END PUBLIC KEY-----\n"));
    assert_eq!(digits(key).collect::<String>(), base64(&[1; 91]));
    assert_eq!(request["proofOfPossession"], base64(&[2; 71]));
}

#[test]
fn a_certification_request_is_the_same_at_every_interface() {
    let csr = signing_request::pem(&material().spki, &material().proof);
    let mut body = Vec::new();
    write_v1(&mut body, &material(), CertificateRequest::Csr);
    let read: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(read, serde_json::json!({ "certificateSigningRequest": base64(csr.as_bytes()) }));
    write_v2(&mut body, &material(), CertificateRequest::Csr, "a.b.c");
    let read: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(read["credentials"]["oidcIdentityToken"], "a.b.c");
    assert_eq!(read["certificateSigningRequest"], base64(csr.as_bytes()));
    assert_eq!(read.as_object().unwrap().len(), 2);
    let message = message(&material(), CertificateRequest::Csr, "a.b.c");
    assert_eq!(message.key, Some(messages::RequestedKey::CertificateSigningRequest(csr.into_bytes())));
}

#[test]
fn a_certificate_is_of_the_usual_lines_however_it_comes() {
    let mut usual = String::new();
    leaf(FulcioInterface::V1, V1, &mut usual).unwrap();
    let text = std::str::from_utf8(V1).unwrap();
    assert!(text.starts_with(&usual), "as it comes from Fulcio");
    let body: String = usual.lines().skip(1).take_while(|line| !line.starts_with("-----")).collect();
    let lines = |length: usize| {
        let lines: Vec<&str> =
            body.as_bytes().chunks(length).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    };
    assert_eq!(lines(64), usual);
    for other in [lines(10_000), lines(76), lines(60), usual.replace('\n', "\r\n")] {
        let mut found = "before".to_owned();
        leaf(FulcioInterface::V1, other.as_bytes(), &mut found).unwrap();
        assert_eq!(found, usual, "{other}");
    }
}

#[test]
fn an_sct_beside_the_certificate_is_found_where_each_interface_has_it() {
    let json = br#"{"sct_version":0}"#;
    let text = base64(json);
    let v2 = |sct: &str| {
        let body = format!(r#"{{"signedCertificateDetachedSct":{{"chain":{{"certificates":["a"]}}{sct}}}}}"#);
        detached_sct(FulcioInterface::V2, b"", body.as_bytes()).map(|sct| sct.map(Cow::into_owned))
    };
    assert_eq!(v2(&format!(r#","signedCertificateTimestamp":"{text}""#)), Ok(Some(json.to_vec())));
    for none in ["", r#","signedCertificateTimestamp":"""#, r#","signedCertificateTimestamp":null"#] {
        assert_eq!(v2(none), Ok(None), "{none}");
    }
    assert!(v2(r#","signedCertificateTimestamp":"?""#).is_err());
    assert_eq!(detached_sct(FulcioInterface::V2, b"", V2), Ok(None), "it is embedded");
    let v1 =
        |header: &[u8]| detached_sct(FulcioInterface::V1, header, V1).map(|sct| sct.map(Cow::into_owned));
    assert_eq!(v1(text.as_bytes()), Ok(Some(json.to_vec())));
    assert_eq!(v1(b""), Ok(None));
    assert!(v1(b"?").is_err());
    let chain = Some(messages::CertificateChain { certificates: vec!["a".to_owned()] });
    let signed_certificate_timestamp = json.to_vec();
    let signed = messages::SigningCertificateDetachedSct { chain, signed_certificate_timestamp };
    let certificate = Some(messages::IssuedCertificate::SignedCertificateDetachedSct(signed));
    let body = messages::SigningCertificate { certificate }.encode_to_vec();
    assert_eq!(detached_sct(FulcioInterface::Grpc, b"", &body), Ok(Some(Cow::Borrowed(&json[..]))));
}

#[test]
fn a_header_that_comes_twice_is_one_sct_or_none() {
    let of = |values: &[&'static str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(SCT_HEADER, HeaderValue::from_static(value));
        }
        sct_header(&headers).map(<[u8]>::to_vec)
    };
    assert_eq!(of(&[]), Ok(Vec::new()));
    assert_eq!(of(&["a"]), Ok(b"a".to_vec()));
    assert_eq!(of(&["a", "a"]), Ok(b"a".to_vec()));
    for several in [&["a", "b"][..], &["a", "a", "b"], &["", "a"]] {
        assert_eq!(of(several), Err("answer with several scts"), "{several:?}");
    }
}
