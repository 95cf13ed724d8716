//! Keys that sign: throwaway ones that follow from the seed, and the user's own from files. They are two types on
//! purpose: what is only fit for a key that everybody may hold cannot be done to one that somebody keeps.

mod file;
mod pair;
mod rsa;
mod throwaway;

pub use file::FileKey;
pub use throwaway::ThrowawayKey;
