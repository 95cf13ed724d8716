//! The key of a device, for whoever tries it by hand.

use hammer_p256::ThrowawayKey;
use hammer_synth::write_pem;

/// The PEM of a key as an `ECPrivateKey` (RFC 5915 section 4). Everybody may hold it: it follows from its seed.
pub fn private_pem(key: &ThrowawayKey) -> String {
    let mut der = HEAD.to_vec();
    der.extend_from_slice(&key.to_be_bytes());
    der.extend_from_slice(&CURVE);
    der.extend_from_slice(key.public_key());
    let mut pem = String::new();
    write_pem(&mut pem, "EC PRIVATE KEY", &der);
    pem
}

/// A SEQUENCE of version 1 and 32 bytes, and of what follows.
const HEAD: [u8; 7] = [0x30, 0x77, 2, 1, 1, 4, 0x20];
/// P-256, and the head of the public key.
const CURVE: [u8; 17] = [0xa0, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7, 0xa1, 0x44, 3, 0x42, 0];

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hammer_p256::{KeyBlocks, KeyWalk};
    use p256::SecretKey;
    use p256::elliptic_curve::sec1::ToSec1Point as _;

    use super::*;

    #[test]
    fn another_library_reads_the_key_and_finds_its_public_half() {
        let key = KeyWalk::derive(&[7; 32], 0).key_pair(3, &mut KeyBlocks::new());
        let pem = private_pem(&key);
        assert!(pem.lines().all(|line| line.len() <= 64), "{pem}");
        let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let der = STANDARD.decode(text).unwrap();
        let read = SecretKey::from_sec1_der(&der).unwrap();
        assert_eq!(read.public_key().to_sec1_point(false).as_bytes(), key.public_key());
    }
}
