//! The token of a timestamp: `TSTInfo` (RFC 3161 section 2.4.2) in a `SignedData` (RFC 5652 section 5), with the parts that are
//! the same in every token of a signer made beforehand.

use hammer_tlog::keys::{
    certificate::Certificate,
    der::{DerError, context},
};
use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

use crate::{
    authority::Authority,
    certificate::signature_algorithm,
    der::{
        NULL, SET, certificate_time, element, generalized_time, octet_string, oid, sequence, set, unsigned,
    },
    signer::SignerAlgorithm,
};

/// The hash of an imprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImprintHash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl ImprintHash {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// The content of its object identifier.
    #[must_use]
    pub const fn oid(self) -> &'static [u8] {
        match self {
            Self::Sha256 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01],
            Self::Sha384 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02],
            Self::Sha512 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03],
        }
    }

    /// Bytes of it.
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

/// What a timestamp says.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// The content of the policy's object identifier.
    pub policy: &'a [u8],
    /// By which hash what is stamped is known.
    pub hash: ImprintHash,
    /// That hash.
    pub imprint: &'a [u8],
    /// Big-endian.
    pub serial: &'a [u8],
    /// Seconds since 1970.
    pub time: u64,
    /// The content of an `INTEGER`.
    pub nonce: Option<&'a [u8]>,
}

/// What signs timestamps: a leaf, with its constant parts of every token.
#[derive(Debug)]
pub struct TokenSigner {
    authority: Authority,
    digest: &'static Algorithm,
    /// `AlgorithmIdentifier` of `digest`.
    digest_algorithm: Vec<u8>,
    signature_algorithm: Vec<u8>,
    /// `IssuerAndSerialNumber` of the leaf.
    signer_identifier: Vec<u8>,
    /// `tsa` of a `TSTInfo`, the leaf's subject.
    tsa: Vec<u8>,
    /// `signingCertificateV2` attributes, with the leaf's hash by each algorithm of an imprint.
    signing_certificates: [Vec<u8>; 3],
    /// The `[0]` field of a `SignedData`.
    certificates: Vec<u8>,
}

impl TokenSigner {
    /// A signer of this leaf; with the whole chain or the leaf alone in tokens that hold certificates.
    ///
    /// # Errors
    /// The leaf's certificate cannot be read.
    pub fn new(authority: Authority, whole_chain: bool) -> Result<Self, DerError> {
        let leaf = Certificate::parse(authority.certificate())?;
        let serial = unsigned(leaf.serial);
        let signing_certificate =
            |hash| signing_certificate(hash, leaf.raw, &directory_name(leaf.issuer), &serial);
        let signing_certificates =
            [ImprintHash::Sha256, ImprintHash::Sha384, ImprintHash::Sha512].map(signing_certificate);
        let (digest, digest_oid) = match authority.signer().algorithm() {
            SignerAlgorithm::P384 => (&SHA384, ImprintHash::Sha384.oid()),
            _ => (&SHA256, ImprintHash::Sha256.oid()),
        };
        let embedded = if whole_chain { authority.chain().concat() } else { leaf.raw.to_vec() };
        Ok(Self {
            digest,
            digest_algorithm: sequence(&[&oid(digest_oid)]),
            signature_algorithm: signature_algorithm(authority.signer().algorithm()),
            signer_identifier: sequence(&[leaf.issuer, &serial]),
            tsa: element(context(0), &[&directory_name(leaf.subject)]),
            signing_certificates,
            certificates: element(context(0), &[&embedded]),
            authority,
        })
    }

    /// The leaf and its issuers.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// `TimeStampResp` granted, with the token of this timestamp, whose signature `finish` may still alter.
    pub fn respond(
        &self,
        stamp: &Stamp<'_>,
        certificates: bool,
        finish: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> Vec<u8> {
        granted(&self.token(stamp, certificates, finish))
    }

    /// The token alone.
    pub fn token(
        &self,
        stamp: &Stamp<'_>,
        certificates: bool,
        finish: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> Vec<u8> {
        let info = self.info(stamp);
        let attributes = self.attributes(stamp, &info);
        // The signature covers the attributes as a SET OF, in whose place they have another tag (RFC 5652 section 5.4).
        let signature = finish(self.authority.signer().sign(&element(SET, &[&attributes])));
        let signer_info = sequence(&[
            VERSION_1,
            &self.signer_identifier,
            &self.digest_algorithm,
            &element(context(0), &[&attributes]),
            &self.signature_algorithm,
            &octet_string(&signature),
        ]);
        let content = element(context(0), &[&octet_string(&info)]);
        let signed_data = sequence(&[
            VERSION_3,
            &set(&[&self.digest_algorithm]),
            &sequence(&[&oid(TST_INFO), &content]),
            if certificates { &self.certificates } else { &[] },
            &set(&[&signer_info]),
        ]);
        sequence(&[&oid(SIGNED_DATA), &element(context(0), &[&signed_data])])
    }

    fn info(&self, stamp: &Stamp<'_>) -> Vec<u8> {
        let hash = sequence(&[&oid(stamp.hash.oid()), NULL]);
        let nonce = stamp.nonce.map(|nonce| element(0x02, &[nonce])).unwrap_or_default();
        sequence(&[
            VERSION_1,
            &oid(stamp.policy),
            &sequence(&[&hash, &octet_string(stamp.imprint)]),
            &unsigned(stamp.serial),
            &generalized_time(stamp.time),
            ACCURACY_OF_A_SECOND,
            &nonce,
            &self.tsa,
        ])
    }

    /// The signed attributes, in the order that DER asks of a SET OF: shorter ones come first.
    fn attributes(&self, stamp: &Stamp<'_>, info: &[u8]) -> Vec<u8> {
        let signing_certificate = &self.signing_certificates[stamp.hash as usize];
        [
            attribute(CONTENT_TYPE, &oid(TST_INFO)).as_slice(),
            &attribute(SIGNING_TIME, &certificate_time(stamp.time)),
            &attribute(MESSAGE_DIGEST, &octet_string(digest(self.digest, info).as_ref())),
            signing_certificate,
        ]
        .concat()
    }
}

/// `TimeStampResp` granted, with this token.
pub fn granted(token: &[u8]) -> Vec<u8> {
    sequence(&[GRANTED, token])
}

/// The `signingCertificateV2` attribute (RFC 5035 section 3) with a leaf's hash by this algorithm, which is left out where it is
/// the default.
fn signing_certificate(hash: ImprintHash, leaf: &[u8], issuer: &[u8], serial: &[u8]) -> Vec<u8> {
    let (by, identifier) = match hash {
        ImprintHash::Sha256 => (&SHA256, Vec::new()),
        ImprintHash::Sha384 => (&SHA384, sequence(&[&oid(hash.oid()), NULL])),
        ImprintHash::Sha512 => (&SHA512, sequence(&[&oid(hash.oid()), NULL])),
    };
    let issuer_serial = sequence(&[&sequence(&[issuer]), serial]);
    let id = sequence(&[&identifier, &octet_string(digest(by, leaf).as_ref()), &issuer_serial]);
    attribute(SIGNING_CERTIFICATE_V2, &sequence(&[&sequence(&[&id])]))
}

/// `GeneralName` of a `Name`.
fn directory_name(name: &[u8]) -> Vec<u8> {
    element(context(4), &[name])
}

/// `Attribute` of one value.
fn attribute(kind: &[u8], value: &[u8]) -> Vec<u8> {
    sequence(&[&oid(kind), &set(&[value])])
}

const VERSION_1: &[u8] = &[0x02, 0x01, 0x01];
const VERSION_3: &[u8] = &[0x02, 0x01, 0x03];
/// `PKIStatusInfo` with status 0.
const GRANTED: &[u8] = &[0x30, 0x03, 0x02, 0x01, 0x00];
/// `Accuracy` with one second.
const ACCURACY_OF_A_SECOND: &[u8] = &[0x30, 0x03, 0x02, 0x01, 0x01];
/// 1.2.840.113549.1.7.2.
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
/// 1.2.840.113549.1.9.16.1.4.
const TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
/// 1.2.840.113549.1.9.3.
const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03];
/// 1.2.840.113549.1.9.4.
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
/// 1.2.840.113549.1.9.5.
const SIGNING_TIME: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x05];
/// 1.2.840.113549.1.9.16.2.47.
const SIGNING_CERTIFICATE_V2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x2f];
