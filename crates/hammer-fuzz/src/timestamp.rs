//! Timestamps: nothing is believed but what an authority did sign.

use std::sync::LazyLock;

use hammer_cms::signed_data::SignedData;
use hammer_cms::timestamp::{
    ExpectedImprint, ExpectedTimestamp, REPLY_MEDIA_TYPE, TimestampQuery, TimestampResponse,
    TimestampVerifier, TstInfo, check_reply,
};
use hammer_tlog::keys::chain::TrustedAuthorities;

/// An authority, a query of it, and the content that it signed for that.
struct RecordedTimestamp {
    trusted: TrustedAuthorities,
    query: TimestampQuery,
    signed: Vec<&'static [u8]>,
}

/// A response that is verified has the content that the recorded authority signed for the recorded query, byte for byte.
pub(crate) fn response(data: &[u8]) -> bool {
    read(data);
    let mut believed = false;
    for recorded in RECORDED.iter() {
        let TimestampQuery { imprint_sha256, nonce, .. } = &recorded.query;
        let expected = ExpectedTimestamp {
            imprint: ExpectedImprint::Sha256(imprint_sha256),
            nonce: *nonce,
            not_before_ms: None,
            not_after_ms: None,
        };
        let mut verifier = TimestampVerifier::new(recorded.trusted.clone());
        if verifier.verify(data, &expected).is_err() {
            continue;
        }
        let signed = signed_content(data);
        assert!(recorded.signed.iter().any(|known| Some(*known) == signed));
        let other = ExpectedTimestamp { imprint: ExpectedImprint::Sha256(&[0; 32]), ..expected };
        assert!(verifier.verify(data, &other).is_err(), "it is over one hash alone");
        believed = true;
    }
    believed
}

/// A query that was read says the same when it is written and read again.
pub(crate) fn query(data: &[u8]) -> bool {
    let Ok(query) = TimestampQuery::parse(data) else { return false };
    let mut written = Vec::new();
    query.write(&mut written);
    assert_eq!(TimestampQuery::parse(&written), Ok(query));
    true
}

/// All that can be read of a response, whether it is to be believed or not. One that refuses is no promise, and the others are judged.
fn read(data: &[u8]) {
    let refused = check_reply(Some(REPLY_MEDIA_TYPE.as_bytes()), data).err();
    let is_granted = |read: TimestampResponse<'_>| read.status.status.is_granted();
    assert_eq!(refused.is_some(), TimestampResponse::parse(data).is_ok_and(|read| !is_granted(read)));
    assert!(refused.is_none_or(|fault| !fault.cause().is_empty() && !fault.to_string().is_empty()));
    let Ok(TimestampResponse { status, token }) = TimestampResponse::parse(data) else { return };
    let _ = (status.text, status.failures.map(|failures| failures.to_string()));
    let Some(Ok(signed_data)) = token.map(SignedData::parse) else { return };
    let _ = signed_data.content.map(TstInfo::parse);
    let _ = (signed_data.certificates.count(), signed_data.certificates.parsed().count());
    for signer in signed_data.signer_infos {
        let Ok(attributes) = signer.attributes() else { continue };
        let _ = (attributes.content_type(), attributes.message_digest(), attributes.signing_time());
        let _ = (attributes.signing_certificate(), attributes.signing_certificate_v2());
    }
}

pub(crate) fn signed_content(response: &[u8]) -> Option<&[u8]> {
    SignedData::parse(TimestampResponse::parse(response).ok()?.token?).ok()?.content
}

/// Signed several times, by several signers, for one query.
const OPENSSL: [&[u8]; 3] = [
    include_bytes!("../../../fuzz/seeds/timestamp/openssl-rsa-whole.tsr"),
    include_bytes!("../../../fuzz/seeds/timestamp/openssl-p384.tsr"),
    include_bytes!("../../../fuzz/seeds/timestamp/openssl-rsa-fraction-sha1.tsr"),
];

static RECORDED: LazyLock<[RecordedTimestamp; 2]> = LazyLock::new(|| {
    let recorded = |chain: &str, query: &[u8], responses: &[&'static [u8]]| RecordedTimestamp {
        trusted: TrustedAuthorities::from_pem(chain).expect("a chain"),
        query: TimestampQuery::parse(query).expect("a query"),
        signed: responses.iter().filter_map(|response| signed_content(response)).collect(),
    };
    [
        recorded(
            include_str!("../../../fuzz/seeds/authorities/timestamp-server.pem"),
            include_bytes!("../../../fuzz/seeds/timestamp_query/timestamp-server.tsq"),
            &[include_bytes!("../../../fuzz/seeds/timestamp/timestamp-server.tsr")],
        ),
        recorded(
            include_str!("../../../fuzz/seeds/authorities/openssl.pem"),
            include_bytes!("../../../fuzz/seeds/timestamp_query/openssl.tsq"),
            &OPENSSL,
        ),
    ]
});
