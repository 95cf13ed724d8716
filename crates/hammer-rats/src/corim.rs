//! Endorsements: a CoRIM (draft-ietf-rats-corim) with the reference values and the trust anchor of a PSA device.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hammer_p256::SPKI_PREFIX;

use crate::cbor::CborWriter;
use crate::device::{PsaDevice, SoftwareComponent};
use crate::token::write_sign1;

/// How endorsements of PSA devices are written, which a verifier's discovery document shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PsaDialect {
    /// The profile `http://arm.com/psa/iot/1` over draft-birkholz-rats-corim-02: Veraison to v0.0.2502.
    #[default]
    Iot1,
    /// The profile `tag:arm.com,2025:psa#1.0.0` of draft-fdb-rats-psa-endorsements-03: Veraison v0.0.2608.
    Psa2025,
}

/// A CoRIM of one device.
#[derive(Clone, Copy, Debug)]
pub struct Corim<'a> {
    /// How it is written.
    pub dialect: PsaDialect,
    /// Its own UUID, that of its reference values, and that of its trust anchor: 16 bytes each.
    pub ids: [[u8; 16]; 3],
    /// Who makes the device.
    pub vendor: &'a str,
    /// What it is called.
    pub model: &'a str,
    /// Whose device it is.
    pub device: &'a PsaDevice,
    /// The key by which it signs evidence: an uncompressed point of P-256 (SEC 1 section 2.3.3).
    pub key: &'a [u8; 65],
}

/// Who signs a CoRIM.
#[derive(Clone, Copy, Debug)]
pub struct CorimSigner<'a> {
    /// The name of the signer.
    pub name: &'a str,
    /// Where there is more of it.
    pub uri: &'a str,
    /// The DER of its certificate, whose issuer the verifier trusts.
    pub certificate: &'a [u8],
}

impl PsaDialect {
    /// The profile that a CoRIM of it names.
    pub const fn profile(self) -> &'static str {
        match self {
            Self::Iot1 => "http://arm.com/psa/iot/1",
            Self::Psa2025 => "tag:arm.com,2025:psa#1.0.0",
        }
    }

    /// The media type of a CoRIM that is not signed.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Iot1 => r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#,
            Self::Psa2025 => r#"application/rim+cbor; profile="tag:arm.com,2025:psa#1.0.0""#,
        }
    }

    /// The media type of one that is; none where no release takes any.
    pub const fn signed_media_type(self) -> Option<&'static str> {
        match self {
            Self::Iot1 => None,
            Self::Psa2025 => Some(r#"application/rim+cose; profile="tag:arm.com,2025:psa#1.0.0""#),
        }
    }

    /// The tag of an implementation ID: psa.impl-id, or bytes.
    const fn id_tag(self) -> u64 {
        match self {
            Self::Iot1 => IMPLEMENTATION_ID,
            Self::Psa2025 => BYTES,
        }
    }
}

impl Corim<'_> {
    /// Replaces `out` by it, without a signature.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        self.append(&mut CborWriter::new(out));
    }

    /// Replaces `out` by it in a COSE_Sign1 (RFC 9052 section 4.2). `sign` is given what is signed, and returns r and s of ES256, 32
    /// bytes each.
    pub fn write_signed(
        &self,
        signer: &CorimSigner<'_>,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
        out: &mut Vec<u8>,
    ) {
        let (mut protected, mut payload) = (Vec::new(), Vec::new());
        self.append(&mut CborWriter::new(&mut payload));
        let mut header = CborWriter::new(&mut protected);
        header.map(4);
        header.int(ALGORITHM);
        header.int(ES256);
        header.int(CONTENT_TYPE);
        header.text("application/rim+cbor");
        header.int(CORIM_META);
        header.embedded(|meta| {
            meta.map(1);
            meta.int(0);
            meta.map(2);
            meta.int(0);
            meta.text(signer.name);
            meta.int(1);
            meta.tag(URI);
            meta.text(signer.uri);
        });
        header.int(X5CHAIN);
        header.bytes(signer.certificate);
        out.clear();
        write_sign1(&protected, &payload, sign, out);
    }

    fn append(&self, corim: &mut CborWriter<'_>) {
        let Self { dialect, ids: [id, references, anchor], .. } = self;
        match dialect {
            PsaDialect::Iot1 => {
                corim.map(3);
                corim.int(0);
                corim.bytes(id);
            }
            PsaDialect::Psa2025 => {
                corim.tag(CORIM);
                corim.map(3);
                corim.int(0);
                corim.text(&format!("{:032x}", u128::from_be_bytes(*id)));
            }
        }
        corim.int(1);
        corim.array(2);
        self.comid(corim, |comid| self.reference_values(references, comid));
        self.comid(corim, |comid| self.trust_anchor(anchor, comid));
        corim.int(3);
        corim.text(dialect.profile());
    }

    /// A CoMID: a tag within a byte string in one dialect, and a byte string within a tag in the other.
    fn comid(&self, corim: &mut CborWriter<'_>, write: impl FnOnce(&mut CborWriter<'_>)) {
        match self.dialect {
            PsaDialect::Iot1 => corim.embedded(|tag| {
                tag.tag(COMID);
                write(tag);
            }),
            PsaDialect::Psa2025 => {
                corim.tag(COMID);
                corim.embedded(write);
            }
        }
    }

    /// Everything of a CoMID but its triples: its language, its id, and who made it.
    fn identity(&self, id: &[u8; 16], comid: &mut CborWriter<'_>) {
        comid.map(4);
        comid.int(0);
        comid.text("en-GB");
        comid.int(1);
        comid.map(1);
        comid.int(0);
        comid.bytes(id);
        comid.int(2);
        comid.array(1);
        comid.map(3);
        comid.int(0);
        comid.text("ACME Ltd.");
        comid.int(1);
        comid.tag(URI);
        comid.text("https://acme.example");
        comid.int(2);
        comid.array(3);
        // Tag creator, creator, maintainer.
        for role in 0..3 {
            comid.int(role);
        }
        comid.int(4);
        comid.map(1);
    }

    fn reference_values(&self, id: &[u8; 16], comid: &mut CborWriter<'_>) {
        self.identity(id, comid);
        comid.int(REFERENCE_TRIPLES);
        comid.array(1);
        comid.array(2);
        comid.map(1);
        self.class(comid);
        comid.array(self.device.components.len());
        for component in &self.device.components {
            match self.dialect {
                PsaDialect::Iot1 => measured_as_reference(component, comid),
                PsaDialect::Psa2025 => measured_as_component(component, comid),
            }
        }
    }

    fn trust_anchor(&self, id: &[u8; 16], comid: &mut CborWriter<'_>) {
        self.identity(id, comid);
        comid.int(KEY_TRIPLES);
        comid.array(1);
        comid.array(2);
        comid.map(2);
        self.class(comid);
        comid.int(1);
        comid.tag(UEID);
        comid.bytes(&self.device.ueid());
        comid.array(1);
        comid.tag(PKIX_KEY);
        comid.text(&pem(self.key));
    }

    /// The class of an environment.
    fn class(&self, comid: &mut CborWriter<'_>) {
        comid.int(0);
        comid.map(3);
        comid.int(0);
        comid.tag(self.dialect.id_tag());
        comid.bytes(&self.device.implementation_id);
        comid.int(1);
        comid.text(self.vendor);
        comid.int(2);
        comid.text(self.model);
    }
}

/// A measurement whose key says what it is of, psa.refval-id.
fn measured_as_reference(component: &SoftwareComponent, comid: &mut CborWriter<'_>) {
    comid.map(2);
    comid.int(0);
    comid.tag(REFERENCE_ID);
    comid.map(3);
    comid.int(1);
    comid.text(&component.kind);
    comid.int(4);
    comid.text(&component.version);
    comid.int(5);
    comid.bytes(&component.signer);
    comid.int(1);
    comid.map(1);
    digests(component, comid);
}

/// A measurement whose value says so, by name, version and keys.
fn measured_as_component(component: &SoftwareComponent, comid: &mut CborWriter<'_>) {
    comid.map(2);
    comid.int(0);
    comid.text("psa.software-component");
    comid.int(1);
    comid.map(4);
    comid.int(0);
    comid.map(2);
    comid.int(0);
    comid.text(&component.version);
    comid.int(1);
    comid.int(SEMVER);
    digests(component, comid);
    comid.int(11);
    comid.text(&component.kind);
    comid.int(13);
    comid.array(1);
    comid.tag(BYTES);
    comid.bytes(&component.signer);
}

fn digests(component: &SoftwareComponent, comid: &mut CborWriter<'_>) {
    comid.int(2);
    comid.array(1);
    comid.array(2);
    comid.int(SHA256);
    comid.bytes(&component.measurement);
}

/// The PEM of a `SubjectPublicKeyInfo` (RFC 7468 section 13), without the last line break, which Veraison does without.
pub fn pem(key: &[u8; 65]) -> String {
    let mut der = [0; 91];
    der[..26].copy_from_slice(&SPKI_PREFIX);
    der[26..].copy_from_slice(key);
    let encoded = STANDARD.encode(der);
    let (first, second) = encoded.split_at(64);
    format!("-----BEGIN PUBLIC KEY-----\n{first}\n{second}\n-----END PUBLIC KEY-----")
}

/// RFC 8949 section 3.4.5.3.
const URI: u64 = 32;
/// draft-ietf-rats-corim, section 10.1.
const CORIM: u64 = 501;
const COMID: u64 = 506;
const UEID: u64 = 550;
const PKIX_KEY: u64 = 554;
const BYTES: u64 = 560;
/// draft-fdb-rats-psa-endorsements-00, section 3.
const IMPLEMENTATION_ID: u64 = 600;
const REFERENCE_ID: u64 = 601;
const REFERENCE_TRIPLES: i64 = 0;
const KEY_TRIPLES: i64 = 3;
/// Of the registry of named information hashes (RFC 6920 section 9.4).
const SHA256: i64 = 1;
/// Of the registry of CoSWID version schemes (RFC 9393 section 6.2.2).
const SEMVER: i64 = 16384;
/// Header parameters: RFC 9052 section 3.1, RFC 9360 section 2, and draft-ietf-rats-corim section 4.2.
const ALGORITHM: i64 = 1;
const CONTENT_TYPE: i64 = 3;
const CORIM_META: i64 = 8;
const X5CHAIN: i64 = 33;
const ES256: i64 = -7;
