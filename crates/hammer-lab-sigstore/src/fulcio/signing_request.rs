//! Where the public key of a certificate comes from, and the proof that whoever asks holds its private half.

use hammer_lab::serve::grpc::{GrpcCode, GrpcRefusal};
use hammer_tlog::keys::der::{self, DerError, Tlv};

use crate::subject_key::{SubjectKey, SubjectKeyFault};
use hammer_lab_authority::pem;

/// The key of a request, with its proof of possession.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeySource<'a> {
    /// A key by itself.
    PublicKey {
        /// PEM or DER of its `SubjectPublicKeyInfo`.
        content: &'a [u8],
        /// Its signature over the e-mail address of the token.
        proof: &'a [u8],
    },
    /// PEM of a PKCS #10 request (RFC 2986), all of which but the key is ignored.
    SigningRequest(&'a [u8]),
}

impl KeySource<'_> {
    /// The key, if whoever asks has shown that they hold it.
    pub(super) fn proven(&self, challenge: &str) -> Result<SubjectKey, GrpcRefusal> {
        match self {
            Self::PublicKey { content, proof } => {
                let key =
                    SubjectKey::parse(content).map_err(|fault| key_refusal(fault, INVALID_PUBLIC_KEY))?;
                match key.verifies(challenge.as_bytes(), proof) {
                    true => Ok(key),
                    false => Err(invalid(INVALID_SIGNATURE)),
                }
            }
            Self::SigningRequest(text) => {
                let request = pem::decode(text, &["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]);
                let request = request.ok_or_else(|| invalid(INVALID_REQUEST))?;
                from_signing_request(&request)
            }
        }
    }
}

fn from_signing_request(der: &[u8]) -> Result<SubjectKey, GrpcRefusal> {
    let request = SigningRequest::parse(der).map_err(|_| invalid(INVALID_REQUEST))?;
    let key = SubjectKey::from_der(request.spki).map_err(|fault| key_refusal(fault, INVALID_REQUEST))?;
    if !key.signs_by(request.algorithm) {
        return Err(invalid("signing algorithm not permitted"));
    }
    match key.verifies(request.info, request.signature) {
        true => Ok(key),
        false => Err(invalid(INVALID_SIGNATURE)),
    }
}

/// The parts of a `CertificationRequest` (RFC 2986 section 4).
struct SigningRequest<'a> {
    /// The whole `CertificationRequestInfo`.
    info: &'a [u8],
    spki: &'a [u8],
    /// The content of the signature algorithm's object identifier.
    algorithm: &'a [u8],
    signature: &'a [u8],
}

impl<'a> SigningRequest<'a> {
    fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let mut fields = Tlv::parse(der, der::SEQUENCE)?.content();
        let info = fields.expect(der::SEQUENCE)?;
        let algorithm = fields.expect(der::SEQUENCE)?.content().expect(der::OBJECT_IDENTIFIER)?.value;
        let signature = fields.expect(der::BIT_STRING)?.bits()?;
        fields.finish()?;
        let mut info_fields = info.content();
        info_fields.expect(der::INTEGER)?;
        info_fields.expect(der::SEQUENCE)?;
        let spki = info_fields.expect(der::SEQUENCE)?.raw;
        // They may be empty, and not left out.
        info_fields.expect(der::context(0))?;
        info_fields.finish()?;
        Ok(Self { info: info.raw, spki, algorithm, signature })
    }
}

fn key_refusal(fault: SubjectKeyFault, unreadable: &str) -> GrpcRefusal {
    match fault {
        SubjectKeyFault::Unreadable => invalid(unreadable),
        SubjectKeyFault::Insecure => invalid("The public key supplied in the request is insecure"),
    }
}

/// `InvalidArgument`, which is 400 over HTTP.
pub(super) fn invalid(message: &str) -> GrpcRefusal {
    GrpcRefusal::new(GrpcCode::InvalidArgument, message)
}

pub(super) const INVALID_PUBLIC_KEY: &str = "The public key supplied in the request could not be parsed";
const INVALID_REQUEST: &str = "The certificate signing request could not be parsed";
const INVALID_SIGNATURE: &str = "The signature supplied in the request could not be verified";

#[cfg(test)]
mod tests {
    use hammer_mutate::{Mutator, cases};
    use rcgen::{CertificateParams, KeyPair};

    use super::*;
    use hammer_lab_authority::LabSigner;

    #[test]
    fn an_altered_signing_request_never_certifies_another_key() {
        let key = KeyPair::generate().unwrap();
        let request = CertificateParams::new([]).unwrap().serialize_request(&key).unwrap();
        let honest = from_signing_request(request.der()).unwrap();
        let mut mutator = Mutator::new(1);
        for _ in 0..cases(2000) {
            if let Ok(key) = from_signing_request(&mutator.bytes(request.der(), honest.spki())) {
                assert_eq!(key.spki(), honest.spki());
            }
        }
    }

    #[test]
    fn an_altered_key_is_never_proven() {
        let signer = LabSigner::p256("signer", 1).unwrap();
        let proof = signer.sign(b"jane@example.com");
        let mut mutator = Mutator::new(2);
        for _ in 0..cases(2000) {
            let content = mutator.bytes(signer.spki(), &proof);
            let key = KeySource::PublicKey { content: &content, proof: &proof };
            match key.proven("jane@example.com") {
                Ok(key) => assert_eq!(key.bytes(), signer.public_key()),
                Err(refusal) => assert_eq!(refusal.code, GrpcCode::InvalidArgument),
            }
        }
    }
}
