//! A response of a real timestamp server.

use hammer_cms::signed_data::SignedData;
use hammer_cms::timestamp::{
    Accuracy, ExpectedImprint, ExpectedTimestamp, PkiStatus, TimestampFault, TimestampQuery,
    TimestampResponse, TimestampVerifier, TstInfo, VerifiedTimestamp,
};
use hammer_tlog::keys::chain::{ChainError, TrustedAuthorities};

use crate::{testdata, verifier};

/// 2026-11-21 06:48:11 UTC.
const STAMPED_MS: i64 = 1_795_243_691_000;

fn query() -> TimestampQuery {
    TimestampQuery::parse(&testdata("timestamp-server/request.tsq")).unwrap()
}

fn response() -> Vec<u8> {
    testdata("timestamp-server/response.tsr")
}

#[test]
fn a_response_of_timestamp_server_verifies_with_its_chain_again_and_again() {
    let (query, response, mut verifier) = (query(), response(), verifier("timestamp-server"));
    let expected = ExpectedTimestamp {
        imprint: ExpectedImprint::Sha256(&query.imprint_sha256),
        nonce: query.nonce,
        not_before_ms: Some(STAMPED_MS + 999),
        not_after_ms: Some(STAMPED_MS),
    };
    for _ in 0..3 {
        let verified = verifier.verify(&response, &expected).unwrap();
        let VerifiedTimestamp { unix_ms, serial, accuracy, has_certificate } = verified;
        assert_eq!((unix_ms, has_certificate), (STAMPED_MS, true));
        assert_eq!((serial.len(), &serial[..4]), (21, &[0x00, 0xd9, 0xdd, 0x91][..]));
        assert_eq!(accuracy, Some(Accuracy { seconds: 1, millis: 0, micros: 0 }));
    }
}

#[test]
fn the_window_ends_with_the_second_that_the_time_stands_for() {
    let (query, response, mut verifier) = (query(), response(), verifier("timestamp-server"));
    let mut judge = |not_before_ms, not_after_ms| {
        let imprint = ExpectedImprint::Sha256(&query.imprint_sha256);
        let expected = ExpectedTimestamp { imprint, nonce: None, not_before_ms, not_after_ms };
        verifier.verify(&response, &expected).map(|verified| verified.unix_ms)
    };
    assert_eq!(judge(None, None), Ok(STAMPED_MS));
    let not_before_ms = STAMPED_MS + 1000;
    let too_early = TimestampFault::Time { unix_ms: STAMPED_MS, window: [Some(not_before_ms), None] };
    assert_eq!(judge(Some(not_before_ms), None), Err(too_early));
    let not_after_ms = STAMPED_MS - 1;
    let too_late = TimestampFault::Time { unix_ms: STAMPED_MS, window: [None, Some(not_after_ms)] };
    assert_eq!(too_late.kind(), "timestamp-time");
    assert_eq!(judge(None, Some(not_after_ms)), Err(too_late));
    let told = judge(Some(STAMPED_MS - 9_000), Some(not_after_ms)).unwrap_err().to_string();
    assert_eq!(
        told,
        "verify the timestamp: its genTime is 1795243691000, outside of 1795243682000 to 1795243690999 \
         (milliseconds since 1970, the skew allowed included)"
    );
}

#[test]
fn every_field_of_a_response_is_read() {
    let (query, response) = (query(), response());
    let response = TimestampResponse::parse(&response).unwrap();
    assert_eq!(
        (response.status.status, response.status.text, response.status.failures),
        (PkiStatus::Granted, None, None)
    );
    let signed_data = SignedData::parse(response.token.unwrap()).unwrap();
    assert_eq!((signed_data.certificates.count(), signed_data.signer_infos.count()), (1, 1));
    let info = TstInfo::parse(signed_data.content.unwrap()).unwrap();
    // 1.3.6.1.4.1.57264.2
    assert_eq!(info.policy, [0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x02]);
    assert_eq!(info.imprint.sha256(), Some(&query.imprint_sha256));
    assert!(info.has_nonce(query.nonce.unwrap()) && !info.has_nonce(0));
    assert_eq!((info.gen_time.unix_ms(), info.gen_time.digits), (STAMPED_MS, 0));
    assert!(!info.ordering && info.tsa.is_some());
    let attributes = signed_data.signer_infos.only().unwrap().attributes().unwrap();
    assert_eq!(attributes.signing_time(), Ok(Some(STAMPED_MS / 1000)));
    assert_eq!(attributes.signing_certificate(), Ok(None));
    let certificate = signed_data.certificates.parsed().next().unwrap();
    assert_eq!(attributes.signing_certificate_v2().unwrap().unwrap().names(&certificate), Some(true));
}

#[test]
fn without_the_intermediate_nobody_trusts_the_signer() {
    let pem = String::from_utf8(testdata("timestamp-server/certchain.pem")).unwrap();
    let whole = TrustedAuthorities::from_pem(&pem).unwrap();
    let root = whole.certificates().last().unwrap().to_vec();
    let mut verifier = TimestampVerifier::new(TrustedAuthorities::from_der([root]).unwrap());
    let expected = ExpectedTimestamp {
        imprint: ExpectedImprint::Sha256(&query().imprint_sha256),
        nonce: None,
        not_before_ms: None,
        not_after_ms: None,
    };
    let fault = verifier.verify(&response(), &expected).unwrap_err();
    let issuer = "Test TSA Intermediate".to_owned();
    assert_eq!(fault, TimestampFault::Untrusted(ChainError::Untrusted { issuer }));
    assert_eq!(fault.kind(), "timestamp-untrusted");
}
