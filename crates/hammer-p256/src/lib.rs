//! ECDSA over P-256 with SHA-256 for load: many signatures by keys that nobody keeps, and many verifications with one
//! key, as fast as the field's arithmetic allows. It never hides a secret: all of it takes time that depends on the
//! values, and nonces that walk give the key away from two signatures. So no key can be read into it, only derived
//! from a seed; it opens no file and reads no clock.
//!
//! Where the processor has AVX-512 IFMA, which is found out at run time, the field and the scalars are computed eight
//! abreast; what takes one lane elsewhere is there too, and judges what eight lanes cannot: points that meet.
//!
//! Read in this order: [`residue`], [`field`], [`scalar`], [`point`], [`lanes`], [`table`], [`der`], [`throwaway`],
//! [`nonce_walk`], [`key_walk`], [`verifier`], [`once`].

mod blocks;
pub mod der;
mod digit;
mod entry;
pub mod field;
mod inversion;
mod jacobian;
pub mod key_walk;
pub mod lanes;
mod limbs;
pub mod nonce_walk;
pub mod once;
pub mod point;
pub mod residue;
pub mod scalar;
mod steps;
pub mod table;
pub mod throwaway;
pub mod verifier;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(not(target_arch = "x86_64"))]
#[path = "wide/absent.rs"]
mod wide;
mod windows;

pub use der::{RawSignature, Signature};
pub use field::FieldElement;
pub use key_walk::{KeyBlocks, KeyWalk};
pub use nonce_walk::{NonceBlocks, NonceWalk};
pub use once::{OnceBatch, verifies_abreast, verify_once, verify_once_fixed};
pub use point::{POINT_LENGTH, Point, SPKI_PREFIX};
pub use scalar::Scalar;
pub use throwaway::ThrowawayKey;
pub use verifier::{FixedKeyVerifier, SignatureBatch};
