//! A timestamp authority that does as it is told, in DER of its own.

use hammer_cms::timestamp::{
    ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampVerifier, VerifiedTimestamp,
};
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::der;
use hammer_tlog::keys::digest::DigestAlgorithm;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SignatureAlgorithm, SigningKey as _, date_time_ymd,
};

pub(crate) const IMPRINT: [u8; 32] = [0x5a; 32];
pub(crate) const NONCE: u64 = 0x8001_0203_0405_0607;
/// The `SubjectKeyIdentifier` of the first certificate of a signer.
pub(crate) const KEY_IDENTIFIER: &[u8] = b"signer";
/// 2030-01-02 03:04:05 UTC.
pub(crate) const STAMPED_MS: i64 = 1_893_553_445_000;

const SHA256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
const SHA384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
const SHA512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];
pub(crate) const SHA3_256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x08];
const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const ECDSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
pub(crate) const TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
pub(crate) const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
pub(crate) const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03];
pub(crate) const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
pub(crate) const CERTIFICATE_V2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x2f];
const TIME_STAMPING_DER: [u8; 12] = [0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];

/// An element of these parts.
pub(crate) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    der::write(&mut out, tag, &parts.concat());
    out
}

pub(crate) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(der::SEQUENCE, parts)
}

pub(crate) fn oid(content: &[u8]) -> Vec<u8> {
    element(der::OBJECT_IDENTIFIER, &[content])
}

pub(crate) fn octets(content: &[u8]) -> Vec<u8> {
    element(der::OCTET_STRING, &[content])
}

pub(crate) fn integer(content: &[u8]) -> Vec<u8> {
    element(der::INTEGER, &[content])
}

pub(crate) fn attribute(kind: &[u8], values: &[&[u8]]) -> Vec<u8> {
    sequence(&[&oid(kind), &element(der::SET, values)])
}

/// What the authority's certificate allows its key.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Purposes {
    Critical,
    NotCritical,
    WithCodeSigning,
    None,
}

/// A root, and a signer under it.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) root: Vec<u8>,
    /// What stands between, where anything does.
    pub(crate) intermediate: Vec<u8>,
    key: KeyPair,
    pub(crate) certificate: Vec<u8>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::of(&rcgen::PKCS_ECDSA_P256_SHA256, Purposes::Critical)
    }

    pub(crate) fn of(algorithm: &'static SignatureAlgorithm, purposes: Purposes) -> Self {
        Self::minted(algorithm, purposes, None, |_| {})
    }

    /// One whose signer has another certificate than usual.
    pub(crate) fn with_signer(alter: impl FnOnce(&mut CertificateParams)) -> Self {
        Self::minted(&rcgen::PKCS_ECDSA_P256_SHA256, Purposes::Critical, None, alter)
    }

    /// One whose signer stands under an intermediate certificate, which is altered.
    pub(crate) fn with_intermediate(alter: impl FnOnce(&mut CertificateParams)) -> Self {
        let mut params = ca("minted intermediate");
        alter(&mut params);
        Self::minted(&rcgen::PKCS_ECDSA_P256_SHA256, Purposes::Critical, Some(params), |_| {})
    }

    fn minted(
        algorithm: &'static SignatureAlgorithm,
        purposes: Purposes,
        intermediate: Option<CertificateParams>,
        alter: impl FnOnce(&mut CertificateParams),
    ) -> Self {
        let ca_key = || KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let (params, root_key) = (ca("minted root"), ca_key());
        let root = params.self_signed(&root_key).unwrap().der().to_vec();
        let root_issuer = Issuer::new(params, root_key);
        let (issuer, intermediate) = match intermediate {
            None => (root_issuer, Vec::new()),
            Some(params) => {
                let key = ca_key();
                let der = params.signed_by(&key, &root_issuer).unwrap().der().to_vec();
                (Issuer::new(params, key), der)
            }
        };
        let key = KeyPair::generate_for(algorithm).unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "minted signer");
        (params.not_before, params.not_after) = (date_time_ymd(2029, 1, 1), date_time_ymd(2031, 1, 1));
        params.custom_extensions = purposes_extension(purposes).into_iter().collect();
        let identifier = CustomExtension::from_oid_content(&[2, 5, 29, 14], octets(KEY_IDENTIFIER));
        params.custom_extensions.push(identifier);
        alter(&mut params);
        let certificate = params.signed_by(&key, &issuer).unwrap().der().to_vec();
        Self { issuer, root, intermediate, key, certificate }
    }

    /// Another certificate of the same signer: another number, all else equal.
    pub(crate) fn renew(&mut self) {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "minted signer");
        params.custom_extensions = purposes_extension(Purposes::Critical).into_iter().collect();
        self.key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        self.certificate = params.signed_by(&self.key, &self.issuer).unwrap().der().to_vec();
    }

    pub(crate) fn verifier(&self) -> TimestampVerifier {
        TimestampVerifier::new(TrustedAuthorities::from_der([self.root.clone()]).unwrap())
    }

    /// The digest algorithm and the signature algorithm that go with the key.
    fn algorithms(&self) -> (DigestAlgorithm, Vec<u8>, Vec<u8>) {
        let (digest, digest_oid, signature_oid) = match self.key.algorithm() {
            algorithm if *algorithm == rcgen::PKCS_ECDSA_P384_SHA384 => {
                (DigestAlgorithm::Sha384, SHA384, ECDSA_SHA384)
            }
            algorithm if *algorithm == rcgen::PKCS_ED25519 => (DigestAlgorithm::Sha512, SHA512, ED25519),
            _ => (DigestAlgorithm::Sha256, SHA256, ECDSA_SHA256),
        };
        (digest, sequence(&[&oid(digest_oid)]), sequence(&[&oid(signature_oid)]))
    }

    /// `signingCertificateV2`, with SHA-256, of a certificate.
    pub(crate) fn names(der: &[u8]) -> Vec<u8> {
        Self::names_and(der, &[], &[])
    }

    /// The same with a whole `issuerSerial` and whole `policies`, where there are any.
    pub(crate) fn names_and(der: &[u8], issuer_serial: &[u8], policies: &[u8]) -> Vec<u8> {
        let id = sequence(&[&octets(&sha256(der).0), issuer_serial]);
        attribute(CERTIFICATE_V2, &[&sequence(&[&sequence(&[&id]), policies])])
    }

    /// `signingCertificateV2` with a hash by SHA3-256 and an `issuerSerial`.
    pub(crate) fn names_by_sha3(issuer_serial: &[u8]) -> Vec<u8> {
        let id = sequence(&[&sequence(&[&oid(SHA3_256)]), &octets(&[0x3a; 32]), issuer_serial]);
        attribute(CERTIFICATE_V2, &[&sequence(&[&sequence(&[&id])])])
    }

    /// The response that carries a token of these parts.
    pub(crate) fn respond(&self, stamp: &Stamp) -> Vec<u8> {
        let content = stamp.info();
        let (digest, digest_algorithm, signature_algorithm) = self.algorithms();
        let attributes = stamp.attributes.clone().unwrap_or_else(|| {
            let message_digest = octets(digest.digest(&content).as_ref());
            vec![
                attribute(CONTENT_TYPE, &[&oid(TST_INFO)]),
                attribute(MESSAGE_DIGEST, &[&message_digest]),
                Self::names(&self.certificate),
            ]
        });
        let attributes: Vec<&[u8]> = attributes.iter().map(Vec::as_slice).collect();
        let mut signature = self.key.sign(&element(der::SET, &attributes)).unwrap();
        let last = signature.len() - 1;
        signature[last] ^= stamp.signature_flaw;
        let certificate = Certificate::parse(&self.certificate).unwrap();
        let by_number = sequence(&[certificate.issuer, &integer(certificate.serial)]);
        let signer = sequence(&[
            &integer(&[1]),
            &stamp.identifier.clone().unwrap_or(by_number),
            &digest_algorithm,
            &element(der::context(0), &attributes),
            &signature_algorithm,
            &octets(&signature),
        ]);
        let own = stamp.certificates.then_some(&self.certificate);
        let embedded: Vec<&[u8]> = stamp.embedded.iter().chain(own).map(Vec::as_slice).collect();
        let token = sequence(&[
            &oid(&stamp.token_type),
            &element(
                der::context(0),
                &[&sequence(&[
                    &integer(&[3]),
                    &element(der::SET, &[&digest_algorithm]),
                    &sequence(&[&oid(&stamp.content_type), &element(der::context(0), &[&octets(&content)])]),
                    &element(der::context(0), &embedded),
                    &element(der::SET, &vec![signer.as_slice(); stamp.signers]),
                ])],
            ),
        ]);
        sequence(&[&sequence(&[&integer(&[0])]), &token])
    }

    /// What a fresh verifier that trusts this authority says of a response.
    pub(crate) fn judge(&self, stamp: &Stamp) -> Result<i64, TimestampFault> {
        judge(&mut self.verifier(), &self.respond(stamp))
    }
}

fn ca(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

fn purposes_extension(purposes: Purposes) -> Option<CustomExtension> {
    let code_signing = [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03];
    let content = match purposes {
        Purposes::None => return None,
        Purposes::WithCodeSigning => sequence(&[&TIME_STAMPING_DER[2..], &code_signing]),
        Purposes::Critical | Purposes::NotCritical => TIME_STAMPING_DER.to_vec(),
    };
    let mut extension = CustomExtension::from_oid_content(&[2, 5, 29, 37], content);
    extension.set_criticality(purposes != Purposes::NotCritical);
    Some(extension)
}

/// What a token says, all of it right at first.
pub(crate) struct Stamp {
    pub(crate) imprint: Vec<u8>,
    pub(crate) imprint_algorithm: Vec<u8>,
    pub(crate) gen_time: &'static str,
    /// The content of the nonce.
    pub(crate) nonce: Option<Vec<u8>>,
    pub(crate) content_type: Vec<u8>,
    /// None for those that are right.
    pub(crate) attributes: Option<Vec<Vec<u8>>>,
    pub(crate) certificates: bool,
    /// What is embedded before the certificate.
    pub(crate) embedded: Vec<Vec<u8>>,
    /// The signer's identifier; none for issuer and serial number.
    pub(crate) identifier: Option<Vec<u8>>,
    /// The type of the token.
    pub(crate) token_type: Vec<u8>,
    /// The version of the `TSTInfo`.
    pub(crate) version: u8,
    /// The whole `accuracy`.
    pub(crate) accuracy: Vec<u8>,
    pub(crate) signers: usize,
    /// Bits that are turned in the last byte of the signature.
    pub(crate) signature_flaw: u8,
}

impl Default for Stamp {
    fn default() -> Self {
        Self {
            imprint: IMPRINT.to_vec(),
            imprint_algorithm: sequence(&[&oid(SHA256)]),
            gen_time: "20300102030405Z",
            nonce: Some([&[0], NONCE.to_be_bytes().as_slice()].concat()),
            content_type: TST_INFO.to_vec(),
            attributes: None,
            certificates: true,
            embedded: Vec::new(),
            identifier: None,
            token_type: SIGNED_DATA.to_vec(),
            version: 1,
            accuracy: Vec::new(),
            signers: 1,
            signature_flaw: 0,
        }
    }
}

impl Stamp {
    /// Its `TSTInfo`.
    pub(crate) fn info(&self) -> Vec<u8> {
        let nonce = self.nonce.as_ref().map(|nonce| integer(nonce)).unwrap_or_default();
        sequence(&[
            &integer(&[self.version]),
            &oid(&[0x2a, 0x03, 0x04]),
            &sequence(&[&self.imprint_algorithm, &octets(&self.imprint)]),
            &integer(&[0x11; 20]),
            &element(der::GENERALIZED_TIME, &[self.gen_time.as_bytes()]),
            &self.accuracy,
            &nonce,
        ])
    }
}

/// What a verifier says of a response to the query that all tokens here answer.
pub(crate) fn judge(verifier: &mut TimestampVerifier, response: &[u8]) -> Result<i64, TimestampFault> {
    let expected = ExpectedTimestamp {
        imprint: ExpectedImprint::Sha256(&IMPRINT),
        nonce: Some(NONCE),
        not_before_ms: Some(STAMPED_MS - 100),
        not_after_ms: Some(STAMPED_MS + 900),
    };
    verifier.verify(response, &expected).map(|VerifiedTimestamp { unix_ms, .. }| unix_ms)
}
