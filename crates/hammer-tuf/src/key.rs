//! Keys of a repository, in every form in which Sigstore's have been written.

use hammer_tlog::encoding::from_base64;
use hammer_tlog::keys::key::{KeyAlgorithm, LogKey};
use ring::signature::{RSA_PSS_2048_8192_SHA256, UnparsedPublicKey};
use serde::Deserialize;

use crate::file_claim::from_hex;

/// A key as the root metadata has it (specification section 4.2).
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WrittenKey {
    #[serde(default)]
    keytype: String,
    #[serde(default)]
    scheme: String,
    keyval: WrittenKeyValue,
}

#[derive(Clone, Debug, Deserialize)]
struct WrittenKeyValue {
    #[serde(default)]
    public: String,
}

/// A key that signs metadata.
#[derive(Clone, Debug)]
pub(crate) enum TufKey {
    /// ECDSA over P-256 or P-384, or Ed25519, over whole messages.
    Whole(LogKey),
    /// RSA-PSS with SHA-256.
    RsaPss(LogKey),
    /// Of an algorithm that is not verified here, or not written as any key is: by the text.
    Unknown(String),
}

/// What is said of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureVerdict {
    /// It is the key's over the message.
    Holds,
    /// It is not.
    Fails,
    /// That cannot be said here.
    Unverified,
}

impl TufKey {
    pub(crate) fn of(written: &WrittenKey) -> Self {
        let public = written.keyval.public.as_str();
        let unknown = || Self::Unknown(public.to_owned());
        match written.scheme.as_str() {
            "ed25519" => ed25519(public).map_or_else(unknown, Self::Whole),
            "ecdsa-sha2-nistp256" => ecdsa(public, KeyAlgorithm::P256).map_or_else(unknown, Self::Whole),
            "ecdsa-sha2-nistp384" => ecdsa(public, KeyAlgorithm::P384).map_or_else(unknown, Self::Whole),
            "ecdsa-sha2-nistp521" => ecdsa(public, KeyAlgorithm::P521).map_or_else(unknown, Self::Whole),
            "rsassa-pss-sha256" if written.keytype == "rsa" => {
                let key = LogKey::from_pem(public).ok().filter(|key| key.algorithm() == KeyAlgorithm::Rsa);
                key.map_or_else(unknown, Self::RsaPss)
            }
            _ => unknown(),
        }
    }

    /// What makes it one key, under whichever ids.
    pub(crate) fn identity(&self) -> &[u8] {
        match self {
            Self::Whole(key) | Self::RsaPss(key) => key.spki(),
            Self::Unknown(text) => text.as_bytes(),
        }
    }

    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> SignatureVerdict {
        match self {
            Self::Whole(key) if key.verify_raw(message, signature).is_ok() => SignatureVerdict::Holds,
            Self::Whole(_) => SignatureVerdict::Fails,
            Self::RsaPss(key) => {
                let key = UnparsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, key.bytes());
                match key.verify(message, signature) {
                    Ok(()) => SignatureVerdict::Holds,
                    // ring takes a salt as long as the hash alone, and go-tuf writes longer ones.
                    Err(_) => SignatureVerdict::Unverified,
                }
            }
            Self::Unknown(_) => SignatureVerdict::Unverified,
        }
    }
}

/// 32 bytes in hexadecimal digits, or PEM.
fn ed25519(public: &str) -> Option<LogKey> {
    let key = match from_hex(public) {
        Some(bytes) => LogKey::from_ed25519(bytes.as_slice().try_into().ok()?).ok()?,
        None => LogKey::from_pem(public).ok()?,
    };
    (key.algorithm() == KeyAlgorithm::Ed25519).then_some(key)
}

/// PEM; or an uncompressed point of P-256 in hexadecimal digits, as go-tuf wrote it until its version 0.3; or base64 of the DER.
fn ecdsa(public: &str, algorithm: KeyAlgorithm) -> Option<LogKey> {
    let key = match from_hex(public) {
        Some(point) => LogKey::from_der(&[P256_SPKI, point.as_slice()].concat()).ok()?,
        None if public.contains("-----BEGIN") => LogKey::from_pem(public).ok()?,
        None => LogKey::from_der(&from_base64(public).ok()?).ok()?,
    };
    (key.algorithm() == algorithm).then_some(key)
}

/// The DER of a P-256 `SubjectPublicKeyInfo` up to the point (RFC 5480 section 2).
const P256_SPKI: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(keytype: &str, scheme: &str, public: &str) -> TufKey {
        let written = json!({ "keytype": keytype, "scheme": scheme, "keyval": { "public": public } });
        TufKey::of(&serde_json::from_value(written).unwrap())
    }

    /// The first key of root 1 of Sigstore's public repository.
    const POINT: &str = "04cbc5cab2684160323c25cd06c3307178a6b1d1c9b949328453ae473c5ba7527e35b13f298b41633382241f3fd8526c262d43b45adee5c618fa0642c82b8a9803";

    #[test]
    fn a_point_in_digits_is_the_same_key_as_its_pem() {
        let of_digits = key("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", POINT);
        let TufKey::Whole(read) = &of_digits else { panic!("{of_digits:?}") };
        let der = hammer_tlog::encoding::base64(read.spki());
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{der}\n-----END PUBLIC KEY-----\n");
        assert_eq!(key("ecdsa", "ecdsa-sha2-nistp256", &pem).identity(), of_digits.identity());
    }

    #[test]
    fn a_key_of_another_algorithm_than_its_scheme_is_unknown() {
        for (keytype, scheme, public) in [
            ("ecdsa", "ecdsa-sha2-nistp384", POINT),
            ("ed25519", "ed25519", POINT),
            ("ed25519", "ed25519", "00"),
            ("rsa", "rsassa-pss-sha256", POINT),
            ("sphincs", "sphincs-shake-128s", POINT),
            ("ecdsa", "ecdsa-sha2-nistp256", ""),
        ] {
            let read = key(keytype, scheme, public);
            assert!(matches!(read, TufKey::Unknown(_)), "{keytype} {scheme}: {read:?}");
            assert_eq!(read.verify(b"", b""), SignatureVerdict::Unverified);
        }
    }
}
