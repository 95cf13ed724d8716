//! Contents of the object identifiers that certificates here carry (without tag and length).

pub(crate) const COMMON_NAME: &[u8] = &[0x55, 4, 3];
pub(crate) const ORGANIZATION: &[u8] = &[0x55, 4, 10];

pub(crate) const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
pub(crate) const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
pub(crate) const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
pub(crate) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

pub(crate) const SUBJECT_KEY_IDENTIFIER: &[u8] = &[0x55, 0x1d, 14];
pub(crate) const KEY_USAGE: &[u8] = &[0x55, 0x1d, 15];
pub(crate) const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 17];
pub(crate) const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 19];
pub(crate) const CRL_DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 31];
pub(crate) const CERTIFICATE_POLICIES: &[u8] = &[0x55, 0x1d, 32];
pub(crate) const AUTHORITY_KEY_IDENTIFIER: &[u8] = &[0x55, 0x1d, 35];
pub(crate) const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 37];
pub(crate) const AUTHORITY_INFO_ACCESS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 1];

pub(crate) const SERVER_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];
pub(crate) const CLIENT_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 2];
pub(crate) const OCSP: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 48, 1];
pub(crate) const CA_ISSUERS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 48, 2];
pub(crate) const CPS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 2, 1];
pub(crate) const USER_NOTICE: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 2, 2];
/// 2.23.140.1.2.1, domain-validated (CA/Browser Forum baseline requirements, section 7.1.6.1).
pub(crate) const DOMAIN_VALIDATED: &[u8] = &[0x67, 0x81, 0x0c, 1, 2, 1];

/// 1.3.6.1.4.1.32473.1, of the enterprise that stands for none (RFC 5612).
pub(crate) const PADDING: &[u8] = &[0x2b, 6, 1, 4, 1, 0x81, 0xfd, 0x59, 1];

/// 1.3.6.1.4.1.11129.2.4.3, the poison of a precertificate (RFC 6962 section 3.1).
pub(crate) const POISON: &[u8] = &[0x2b, 6, 1, 4, 1, 0xd6, 0x79, 2, 4, 3];
/// 1.3.6.1.4.1.11129.2.4.4, the purpose of a Precertificate Signing Certificate (RFC 6962 section 3.1).
pub(crate) const PRECERTIFICATE_SIGNING: &[u8] = &[0x2b, 6, 1, 4, 1, 0xd6, 0x79, 2, 4, 4];
