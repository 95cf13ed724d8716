//! Queries, against those that OpenSSL writes.

use hammer_cms::timestamp::{TimestampQuery, TimestampQueryError};
use hammer_tlog::hash::sha256;

use crate::testdata;

fn written(query: &TimestampQuery) -> Vec<u8> {
    let mut out = b"before".to_vec();
    query.write(&mut out);
    out.split_off(6)
}

#[test]
fn a_query_is_written_byte_for_byte_as_openssl_does() {
    for file in ["timestamp-server/request.tsq", "openssl/query.tsq", "openssl/query-without-all.tsq"] {
        let der = testdata(file);
        let query = TimestampQuery::parse(&der).unwrap();
        assert_eq!(written(&query), der, "{file}");
    }
    let query = TimestampQuery::parse(&testdata("timestamp-server/request.tsq")).unwrap();
    assert_eq!((query.nonce, query.certificates), (Some(0xb8c9_c9b5_2e5f_de88), true));
    let query = TimestampQuery::parse(&testdata("openssl/query-without-all.tsq")).unwrap();
    assert_eq!((query.nonce, query.certificates), (None, false));
    assert_eq!(query.imprint_sha256, sha256(b"stamped").0);
}

#[test]
fn a_query_of_any_nonce_is_read_as_it_was_written() {
    for nonce in [None, Some(0), Some(0x7f), Some(0x80), Some(0xffff), Some(1 << 63), Some(u64::MAX)] {
        for certificates in [false, true] {
            let query = TimestampQuery { imprint_sha256: [7; 32], nonce, certificates };
            assert_eq!(TimestampQuery::parse(&written(&query)), Ok(query));
        }
    }
}

#[test]
fn what_a_query_has_no_place_for_is_named() {
    let query = TimestampQuery { imprint_sha256: [7; 32], nonce: Some(1), certificates: false };
    let whole = written(&query);
    let with = |at: usize, field: &[u8]| {
        let mut der = whole.clone();
        der.splice(at..at, field.iter().copied());
        der[1] += u8::try_from(field.len()).unwrap();
        TimestampQuery::parse(&der)
    };
    let unsupported = |what| Err(TimestampQueryError::Unsupported { what });
    assert_eq!(with(56, &[0x06, 0x01, 0x2a]), unsupported("policy"));
    assert_eq!(with(whole.len(), &[0xa0, 0x00]), unsupported("extensions"));
    let mut der = whole.clone();
    der[4] = 2;
    assert_eq!(TimestampQuery::parse(&der), Err(TimestampQueryError::Version));
    // The last number of SHA-256's identifier, which then is that of SHA-384.
    let mut der = whole.clone();
    der[19] = 2;
    assert_eq!(TimestampQuery::parse(&der), Err(TimestampQueryError::Imprint));
}
