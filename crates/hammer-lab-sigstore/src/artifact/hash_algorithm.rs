use ring::digest;

/// The hashes that artifacts are named by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashAlgorithm {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl HashAlgorithm {
    /// The algorithm of a name as Rekor v1 writes it (`sha256`).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The algorithm of the content of a DER object identifier (RFC 5754 section 2).
    #[must_use]
    pub fn from_oid(oid: &[u8]) -> Option<Self> {
        let last = oid.strip_prefix(NIST_HASHES)?;
        match last {
            [1] => Some(Self::Sha256),
            [2] => Some(Self::Sha384),
            [3] => Some(Self::Sha512),
            _ => None,
        }
    }

    /// The name as Rekor v1 writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// The name of the enumeration that Rekor v2 writes (sigstore_common.proto, `HashAlgorithm`).
    #[must_use]
    pub const fn proto_name(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA2_256",
            Self::Sha384 => "SHA2_384",
            Self::Sha512 => "SHA2_512",
        }
    }

    /// Bytes of a hash.
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The hash of a message.
    #[must_use]
    pub fn hash(self, message: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, message).as_ref().to_vec()
    }
}

const ALL: [HashAlgorithm; 3] = [HashAlgorithm::Sha256, HashAlgorithm::Sha384, HashAlgorithm::Sha512];
/// DER content of 2.16.840.1.101.3.4.2, up to its last number.
const NIST_HASHES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
