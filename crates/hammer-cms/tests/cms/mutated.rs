//! Responses altered at random.

use std::collections::BTreeSet;

use hammer_cms::signed_data::SignedData;
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampQuery, TimestampResponse, TstInfo};
use hammer_mutate::{Mutator, cases};
use hammer_tlog::hash::sha256;

use crate::{testdata, verifier};

#[test]
fn no_altered_response_is_believed_or_panics() {
    let recorded = TimestampQuery::parse(&testdata("timestamp-server/request.tsq")).unwrap();
    let other = testdata("openssl/rsa-whole.tsr");
    for (folder, file, imprint, nonce) in [
        ("timestamp-server", "response.tsr", recorded.imprint_sha256, recorded.nonce),
        ("openssl", "p384-without-all.tsr", sha256(b"stamped").0, None),
    ] {
        let response = testdata(&format!("{folder}/{file}"));
        let imprint = ExpectedImprint::Sha256(&imprint);
        let expected = ExpectedTimestamp { imprint, nonce, not_before_ms: None, not_after_ms: None };
        let (mut verifier, mut mutator) = (verifier(folder), Mutator::new(7));
        let whole = verifier.verify(&response, &expected).unwrap();
        let mut kinds = BTreeSet::new();
        for _ in 0..cases(20_000) {
            let altered = mutator.bytes(&response, &other);
            match verifier.verify(&altered, &expected) {
                // What is not signed may change: the status grants with changes, or a field is left out.
                Ok(verified) => {
                    assert_eq!((verified.unix_ms, verified.serial), (whole.unix_ms, whole.serial));
                }
                Err(fault) => drop(kinds.insert(fault.kind())),
            }
        }
        assert!(kinds.len() >= 5, "{folder}: {kinds:?}");
    }
}

#[test]
fn no_parser_panics() {
    let seeds = ["timestamp-server/response.tsr", "openssl/rsa-fraction-sha1.tsr", "openssl/refused.tsr"]
        .map(testdata);
    let query = testdata("openssl/query.tsq");
    let mut mutator = Mutator::new(8);
    for round in 0..cases(20_000) {
        let response = mutator.bytes(&seeds[usize::try_from(round % 3).unwrap()], &query);
        let _ = TimestampQuery::parse(&mutator.bytes(&query, &response));
        let Ok(TimestampResponse { token: Some(token), .. }) = TimestampResponse::parse(&response) else {
            continue;
        };
        let Ok(signed_data) = SignedData::parse(token) else { continue };
        let _ = signed_data.content.map(TstInfo::parse);
        let _ = signed_data.certificates.parsed().count();
        for signer in signed_data.signer_infos {
            let Ok(attributes) = signer.attributes() else { continue };
            let _ = (attributes.content_type(), attributes.message_digest(), attributes.signing_time());
            let _ = (attributes.signing_certificate(), attributes.signing_certificate_v2());
        }
    }
}
