//! Queries for timestamps: `TimeStampReq` (RFC 3161 section 2.4.1), and the response of an authority that refuses one.

use hammer_tlog::keys::der::{self, DerError, Tlv, context};

use crate::{
    der::{UTF8_STRING, element, sequence},
    timestamp::ImprintHash,
};

/// What a timestamp is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampRequest {
    /// By which hash what is stamped is known.
    pub hash: ImprintHash,
    /// That hash, as long as it has to be.
    pub imprint: Vec<u8>,
    /// The content of the nonce's `INTEGER`.
    pub nonce: Option<Vec<u8>>,
    /// Whether the timestamp is to hold its signing certificate.
    pub certificates: bool,
}

/// Why a query is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampRefusal {
    /// It is no `TimeStampReq` of version 1.
    Form,
    /// Its hash is SHA-1.
    WeakHash,
    /// Its hash is none of SHA-2.
    UnknownHash,
    /// Its imprint is not as long as its hash.
    ImprintLength,
    /// It asks for another policy.
    Policy,
    /// It has extensions.
    Extensions,
}

impl From<DerError> for StampRefusal {
    fn from(_: DerError) -> Self {
        Self::Form
    }
}

impl StampRequest {
    /// Reads the DER of a query to an authority of that one policy, the content of an object identifier.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn from_der(bytes: &[u8], policy: &[u8]) -> Result<Self, StampRefusal> {
        let mut fields = Tlv::parse(bytes, der::SEQUENCE)?.content();
        if fields.expect(der::INTEGER)?.value != [1] {
            return Err(StampRefusal::Form);
        }
        let mut imprint = fields.expect(der::SEQUENCE)?.content();
        let hash = imprint.expect(der::SEQUENCE)?.content().expect(der::OBJECT_IDENTIFIER)?.value;
        let hashed = imprint.expect(der::OCTET_STRING)?.value;
        imprint.finish()?;
        let asked = fields.optional(der::OBJECT_IDENTIFIER)?.map(|policy| policy.value);
        let nonce = fields.optional(der::INTEGER)?.map(|nonce| nonce.value.to_vec());
        let certificates = fields.optional(der::BOOLEAN)?.is_some_and(|asked| asked.value == [0xff]);
        let extensions = fields.optional(context(0))?;
        fields.finish()?;
        let request = Self { hash: hash_of(hash)?, imprint: hashed.to_vec(), nonce, certificates };
        let has_extensions = extensions.is_some_and(|extensions| !extensions.value.is_empty());
        request.accepted(asked.is_none_or(|asked| asked == policy), has_extensions)
    }

    /// The same, where its imprint has the length of its hash, and it asks for nothing that the authority has not.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn accepted(self, is_policy: bool, has_extensions: bool) -> Result<Self, StampRefusal> {
        if self.imprint.len() != self.hash.length() {
            return Err(StampRefusal::ImprintLength);
        }
        if !is_policy {
            return Err(StampRefusal::Policy);
        }
        if has_extensions {
            return Err(StampRefusal::Extensions);
        }
        Ok(self)
    }
}

impl StampRefusal {
    /// `TimeStampResp` with the status rejection, its reason in words, and its bit of `PKIFailureInfo` (RFC 3161 section 2.4.2).
    pub fn response(self) -> Vec<u8> {
        let (bit, text) = match self {
            Self::Form => (BAD_DATA_FORMAT, "the query cannot be read"),
            Self::WeakHash => (BAD_ALG, "SHA-1 is not stamped"),
            Self::UnknownHash => (BAD_ALG, "the hash is none of SHA-2"),
            Self::ImprintLength => (BAD_DATA_FORMAT, "the imprint is not as long as its hash"),
            Self::Policy => (UNACCEPTED_POLICY, "there is no such policy"),
            Self::Extensions => (UNACCEPTED_EXTENSION, "extensions are not known"),
        };
        // Zeros behind the last bit that is named are left out (X.690 section 11.2.2).
        let mut bits = vec![0; 2 + usize::from(bit / 8)];
        bits[0] = 7 - bit % 8;
        if let Some(last) = bits.last_mut() {
            *last = 0x80 >> (bit % 8);
        }
        let text = sequence(&[&element(UTF8_STRING, &[text.as_bytes()])]);
        sequence(&[&sequence(&[REJECTION, &text, &element(der::BIT_STRING, &[&bits])])])
    }
}

/// The hash with that object identifier.
fn hash_of(oid: &[u8]) -> Result<ImprintHash, StampRefusal> {
    if oid == SHA1 {
        return Err(StampRefusal::WeakHash);
    }
    ImprintHash::ALL.into_iter().find(|hash| hash.oid() == oid).ok_or(StampRefusal::UnknownHash)
}

/// `PKIStatus` 2.
const REJECTION: &[u8] = &[0x02, 0x01, 0x02];
/// Bits of `PKIFailureInfo`.
const BAD_ALG: u8 = 0;
const BAD_DATA_FORMAT: u8 = 5;
const UNACCEPTED_POLICY: u8 = 15;
const UNACCEPTED_EXTENSION: u8 = 16;
/// The content of 1.3.14.3.2.26.
const SHA1: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x1a];

#[cfg(test)]
mod tests {
    use hammer_mutate::{Mutator, cases};

    use super::*;
    use crate::der::{NULL, octet_string, oid};

    const RECORDED: &[u8] = include_bytes!("../testdata/request.tsq");
    /// 1.3.6.1.4.1.57264.2.
    const POLICY: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x02];

    /// A query for a timestamp over zeros, with whatever follows the imprint.
    fn query(hash: &[u8], length: usize, rest: &[&[u8]]) -> Vec<u8> {
        let hash = sequence(&[&oid(hash), NULL]);
        let imprint = sequence(&[&hash, &octet_string(&vec![0; length])]);
        sequence(&[&[&[2, 1, 1], imprint.as_slice()], rest].concat())
    }

    #[test]
    fn a_recorded_request_is_read_whole() {
        let request = StampRequest::from_der(RECORDED, POLICY).unwrap();
        assert_eq!(request.hash, ImprintHash::Sha256);
        assert_eq!(request.imprint[..4], [0x6f, 0xda, 0xf7, 0x25]);
        assert_eq!(request.nonce.unwrap(), [0, 0xb8, 0xc9, 0xc9, 0xb5, 0x2e, 0x5f, 0xde, 0x88]);
        assert!(request.certificates);
    }

    #[test]
    fn what_a_query_may_leave_out_is_absent() {
        let request = StampRequest::from_der(&query(ImprintHash::Sha384.oid(), 48, &[]), POLICY).unwrap();
        let imprint = vec![0; 48];
        let expected = StampRequest { hash: ImprintHash::Sha384, imprint, nonce: None, certificates: false };
        assert_eq!(request, expected);
    }

    #[test]
    fn a_query_is_refused_for_what_is_wrong_with_it() {
        use StampRefusal::{Extensions, Form, ImprintLength, Policy, UnknownHash, WeakHash};
        let sha256 = ImprintHash::Sha256.oid();
        let extensions = element(context(0), &[&sequence(&[])]);
        for (bytes, refusal) in [
            (query(SHA1, 20, &[]), WeakHash),
            (query(&[0x2a], 20, &[]), UnknownHash),
            (query(sha256, 31, &[]), ImprintLength),
            (query(sha256, 32, &[&oid(&[0x2b, 6, 1])]), Policy),
            (query(sha256, 32, &[&extensions]), Extensions),
            (query(sha256, 32, &[NULL]), Form),
            (RECORDED[..RECORDED.len() - 1].to_vec(), Form),
            ([RECORDED, &[0]].concat(), Form),
            (Vec::new(), Form),
        ] {
            assert_eq!(StampRequest::from_der(&bytes, POLICY), Err(refusal));
        }
        assert!(StampRequest::from_der(&query(sha256, 32, &[&oid(POLICY)]), POLICY).is_ok());
    }

    #[test]
    fn a_refusal_is_written_as_a_status_a_text_and_a_bit() {
        let response = StampRefusal::UnknownHash.response();
        assert_eq!(response[..9], [0x30, 0x26, 0x30, 0x24, 2, 1, 2, 0x30, 0x1b]);
        assert_eq!(response[response.len() - 4..], [3, 2, 7, 0x80]);
        let ends = |refusal: StampRefusal, bits: &[u8]| assert!(refusal.response().ends_with(bits));
        ends(StampRefusal::Form, &[3, 2, 2, 0x04]);
        ends(StampRefusal::Policy, &[3, 3, 0, 0, 0x01]);
        ends(StampRefusal::Extensions, &[3, 4, 7, 0, 0, 0x80]);
    }

    #[test]
    fn what_is_read_of_an_altered_query_has_an_imprint_of_its_hashs_length() {
        let mut mutator = Mutator::new(1);
        let mut read = 0;
        for _ in 0..cases(4000) {
            let altered = mutator.bytes(RECORDED, &query(ImprintHash::Sha512.oid(), 64, &[]));
            if let Ok(request) = StampRequest::from_der(&altered, POLICY) {
                assert_eq!(request.imprint.len(), request.hash.length());
                read += 1;
            }
        }
        assert!(read > 0);
    }
}
