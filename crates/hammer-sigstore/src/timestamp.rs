//! Requests for timestamps (RFC 3161), in DER and in the JSON of sigstore/timestamp-authority v2.

use hammer_cms::timestamp::{QUERY_MEDIA_TYPE, TimestampQuery};
use hammer_net::Request;
use hammer_tlog::encoding::write_base64;
use hammer_tlog::hash::Hash;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http::uri::PathAndQuery;

use crate::plan::TimestampFormat;

pub(crate) mod workload;

/// Where timestamps are asked for.
pub(crate) const TIMESTAMP: &str = "/api/v1/timestamp";
/// Where the authority's chain is.
pub(crate) const CHAIN: &str = "/api/v1/timestamp/certchain";

impl TimestampFormat {
    /// A request to that path, without its body.
    pub(crate) fn request(self, path: PathAndQuery) -> Request {
        let mut request = Request::post(path, "").keep_header(CONTENT_TYPE);
        request.headers.insert(CONTENT_TYPE, self.media_type());
        request
    }

    /// The media type of a request. The authority takes no parameter behind it.
    const fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Der => QUERY_MEDIA_TYPE,
            Self::Json => "application/json",
        })
    }

    /// Replaces `out` by a request for a timestamp over that hash, with the certificate in the answer: Rekor verifies by it.
    pub(crate) fn write(self, imprint: &Hash, nonce: u64, out: &mut Vec<u8>) {
        out.clear();
        match self {
            Self::Der => {
                let query =
                    TimestampQuery { imprint_sha256: imprint.0, nonce: Some(nonce), certificates: true };
                query.write(out);
            }
            Self::Json => {
                out.extend_from_slice(br#"{"artifactHash":""#);
                write_base64(out, &imprint.0);
                out.extend_from_slice(br#"","certificates":true,"hashAlgorithm":"sha256","nonce":"#);
                out.extend_from_slice(nonce.to_string().as_bytes());
                out.push(b'}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_ask_for_the_same() {
        let imprint = Hash([7; 32]);
        let mut out = vec![1];
        TimestampFormat::Der.write(&imprint, 99, &mut out);
        let query = TimestampQuery::parse(&out).unwrap();
        assert_eq!((query.imprint_sha256, query.nonce, query.certificates), ([7; 32], Some(99), true));
        TimestampFormat::Json.write(&imprint, 99, &mut out);
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            (&read["artifactHash"], &read["nonce"], &read["certificates"]),
            (&imprint.to_base64().into(), &99.into(), &true.into())
        );
    }
}
