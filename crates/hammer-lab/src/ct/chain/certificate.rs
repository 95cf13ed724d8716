//! X.509 certificates read in place (RFC 5280 section 4.1), as far as a log looks at them.

use hammer_tlog::keys::der::{
    BIT_STRING, BOOLEAN, DerError, DerReader, GENERALIZED_TIME, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING,
    SEQUENCE, Tlv, UTC_TIME, context,
};

use super::date;

/// A certificate in the bytes that it came in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certificate<'a> {
    pub(crate) der: &'a [u8],
    /// TBSCertificate, its header included: what the issuer signed.
    pub(crate) tbs: &'a [u8],
    /// Whether the version is 3.
    pub(crate) v3: bool,
    /// Content of the serial number.
    pub(crate) serial: &'a [u8],
    /// Issuer's Name, its header included.
    pub(crate) issuer: &'a [u8],
    /// Seconds since the Unix epoch.
    pub(crate) not_after_s: i64,
    /// Subject's Name, its header included.
    pub(crate) subject: &'a [u8],
    /// SubjectPublicKeyInfo, its header included.
    pub(crate) spki: &'a [u8],
    /// Content of the SEQUENCE OF Extension; empty without extensions.
    extensions: &'a [u8],
    /// AlgorithmIdentifier of the signature, its header included.
    pub(crate) signature_algorithm: &'a [u8],
    /// Bytes of the signature.
    pub(crate) signature: &'a [u8],
}

/// One extension of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extension<'a> {
    /// Content of the OBJECT IDENTIFIER.
    pub(crate) oid: &'a [u8],
    pub(crate) critical: bool,
    /// Content of the OCTET STRING.
    pub(crate) value: &'a [u8],
}

impl<'a> Certificate<'a> {
    pub(crate) fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let mut outer = Tlv::parse(der, SEQUENCE)?.content();
        let tbs = outer.expect(SEQUENCE)?;
        let signature_algorithm = outer.expect(SEQUENCE)?.raw;
        let signature = outer.expect(BIT_STRING)?.bits()?;
        outer.finish()?;

        let mut fields = tbs.content();
        let v3 = match fields.optional(context(0))? {
            Some(version) => Tlv::parse(version.value, INTEGER)?.value == [2],
            None => false,
        };
        let serial = fields.expect(INTEGER)?.value;
        if fields.expect(SEQUENCE)?.raw != signature_algorithm {
            return Err(DerError::Value { what: "signature algorithm, which differs from the inner one," });
        }
        let issuer = fields.expect(SEQUENCE)?.raw;
        let mut validity = fields.expect(SEQUENCE)?.content();
        time(validity.read()?)?;
        let not_after_s = time(validity.read()?)?;
        validity.finish()?;
        let subject = fields.expect(SEQUENCE)?.raw;
        let spki = fields.expect(SEQUENCE)?.raw;
        fields.optional(UNIQUE_ID_ISSUER)?;
        fields.optional(UNIQUE_ID_SUBJECT)?;
        let extensions = match fields.optional(context(3))? {
            Some(explicit) => Tlv::parse(explicit.value, SEQUENCE)?.value,
            None => &[],
        };
        fields.finish()?;
        let certificate = Self {
            der,
            tbs: tbs.raw,
            v3,
            serial,
            issuer,
            not_after_s,
            subject,
            spki,
            extensions,
            signature_algorithm,
            signature,
        };
        certificate.check_extensions()?;
        Ok(certificate)
    }

    pub(crate) fn extensions(&self) -> impl Iterator<Item = Extension<'a>> + use<'a> {
        let mut reader = DerReader::new(self.extensions);
        // All of them were read once when the certificate was parsed.
        std::iter::from_fn(move || (!reader.is_empty()).then(|| next_extension(&mut reader).ok()).flatten())
    }

    pub(crate) fn extension(&self, oid: &[u8]) -> Option<Extension<'a>> {
        self.extensions().find(|extension| extension.oid == oid)
    }

    fn check_extensions(&self) -> Result<(), DerError> {
        let mut reader = DerReader::new(self.extensions);
        let mut oids = Vec::with_capacity(16);
        while !reader.is_empty() {
            oids.push(next_extension(&mut reader)?.oid);
        }
        oids.sort_unstable();
        match oids.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(DerError::Value { what: "list of extensions, which holds one twice," }),
            false => Ok(()),
        }
    }
}

fn next_extension<'a>(reader: &mut DerReader<'a>) -> Result<Extension<'a>, DerError> {
    let mut fields = reader.expect(SEQUENCE)?.content();
    let oid = fields.expect(OBJECT_IDENTIFIER)?.value;
    let critical = match fields.optional(BOOLEAN)? {
        Some(Tlv { value: [0xff], .. }) => true,
        Some(Tlv { value: [0], .. }) | None => false,
        Some(_) => return Err(DerError::Value { what: "boolean" }),
    };
    let value = fields.expect(OCTET_STRING)?.value;
    fields.finish()?;
    Ok(Extension { oid, critical, value })
}

fn time(element: Tlv<'_>) -> Result<i64, DerError> {
    match element.tag {
        UTC_TIME => date::from_utc_time(element.value),
        GENERALIZED_TIME => date::from_generalized_time(element.value),
        _ => None,
    }
    .ok_or(DerError::Value { what: "time" })
}

/// `issuerUniqueID [1] IMPLICIT BIT STRING`, primitive.
const UNIQUE_ID_ISSUER: u8 = 0x81;
/// `subjectUniqueID [2] IMPLICIT BIT STRING`, primitive.
const UNIQUE_ID_SUBJECT: u8 = 0x82;

/// 1.3.6.1.4.1.11129.2.4.3, the poison of a precertificate (RFC 6962 section 3.1).
pub(crate) const OID_POISON: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03];
/// 1.3.6.1.4.1.11129.2.4.4, the extended key usage of a precertificate signing certificate (RFC 6962 section 3.1).
pub(crate) const OID_PRECERT_SIGNING: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x04];
/// 2.5.29.35.
pub(crate) const OID_AUTHORITY_KEY_IDENTIFIER: &[u8] = &[0x55, 0x1d, 0x23];
/// 2.5.29.19.
pub(crate) const OID_BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
/// 2.5.29.15.
pub(crate) const OID_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
/// 2.5.29.37.
pub(crate) const OID_EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
