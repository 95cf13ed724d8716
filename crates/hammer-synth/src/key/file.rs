//! The user's own keys.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use hammer_values::plain_key_labels;
use p256::SecretKey;
use p256::ecdsa::SigningKey;
use p256::pkcs8::DecodePrivateKey;
use ring::signature::{Ed25519KeyPair, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::{self, PemObject};

use super::pair::KeyPair;
use crate::error::Error;
use crate::signer::{Algorithm, Signer};

/// A key that somebody keeps, read from a PEM file. It signs safely only: RFC 6979 nonces for P-256, the deterministic
/// schemes of RSA and Ed25519, each with the constant-time arithmetic of its crate. Nothing that trades safety for speed
/// takes this type.
pub struct FileKey {
    pair: KeyPair,
    path: PathBuf,
}

impl FileKey {
    /// Reads the first private key of a PEM file: PKCS#8 (`PRIVATE KEY`), SEC1 (`EC PRIVATE KEY`) or PKCS#1
    /// (`RSA PRIVATE KEY`), or one of these that says `TEST`; P-256, RSA-2048 or Ed25519.
    ///
    /// # Errors
    /// They all name the file: [`Error::Read`], [`Error::Pem`], [`Error::NoKey`], [`Error::EncryptedKey`], and
    /// [`Error::Key`] for a damaged key or another algorithm.
    pub fn from_pem_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let text = fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        let text = plain_key_labels(&text);
        let der = match PrivateKeyDer::from_pem_slice(&text) {
            Ok(der) => der,
            Err(_) if is_encrypted(&text) => return Err(Error::EncryptedKey { path }),
            Err(pem::Error::NoItemsFound) => return Err(Error::NoKey { path }),
            Err(_) => return Err(Error::Pem { path }),
        };
        match read(&der) {
            Ok(pair) => Ok(Self { pair, path }),
            Err(reason) => Err(Error::Key { path, reason }),
        }
    }

    /// The file that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Signer for FileKey {
    fn algorithm(&self) -> Algorithm {
        self.pair.algorithm()
    }

    fn spki_der(&self) -> &[u8] {
        self.pair.spki_der()
    }

    fn sign(&self, message: &[u8], out: &mut Vec<u8>) {
        self.pair.sign(message, out);
    }
}

impl fmt::Debug for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileKey")
            .field("algorithm", &self.algorithm())
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Both encryptions of PEM keys: PKCS#8's own section, and the header of RFC 1421 in the older formats.
fn is_encrypted(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED")
}

fn read(der: &PrivateKeyDer<'_>) -> Result<KeyPair, String> {
    match der {
        PrivateKeyDer::Sec1(der) => SecretKey::from_sec1_der(der.secret_sec1_der())
            .map(|key| KeyPair::p256(SigningKey::from(key)))
            .map_err(|_| "a SEC1 key that is damaged or not on P-256".to_owned()),
        PrivateKeyDer::Pkcs1(der) => {
            rsa2048(RsaKeyPair::from_der(der.secret_pkcs1_der()).map_err(|why| why.to_string())?)
        }
        PrivateKeyDer::Pkcs8(der) => read_pkcs8(der.secret_pkcs8_der()),
        _ => Err("a key in an unknown format".to_owned()),
    }
}

fn read_pkcs8(der: &[u8]) -> Result<KeyPair, String> {
    if let Ok(key) = SigningKey::from_pkcs8_der(der) {
        return Ok(KeyPair::p256(key));
    }
    if let Ok(key) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
        return Ok(KeyPair::ed25519(key));
    }
    match RsaKeyPair::from_pkcs8(der) {
        Ok(key) => rsa2048(key),
        Err(why) if why.to_string() == "WrongAlgorithm" => {
            Err("a PKCS#8 key that is neither P-256, RSA-2048 nor Ed25519".to_owned())
        }
        Err(why) => Err(format!("a PKCS#8 key that is damaged or not supported: {why}")),
    }
}

fn rsa2048(key: RsaKeyPair) -> Result<KeyPair, String> {
    match key.public().modulus_len() * 8 {
        2048 => Ok(KeyPair::rsa2048(key)),
        bits => Err(format!("an RSA key of {bits} bits, where 2048 is supported")),
    }
}
