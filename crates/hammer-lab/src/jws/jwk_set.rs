//! The public keys of an issuer (RFC 7517 section 5).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hammer_p256::FixedKeyVerifier;
use hammer_tlog::{
    hash::sha256,
    keys::der::{self, DerError, Tlv},
};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde::Deserialize;

/// Keys of RSA, of 2048 to 8192 bits, and of P-256, by which tokens are verified.
#[derive(Debug, Default)]
pub struct JwkSet {
    keys: Vec<VerifyingKey>,
}

#[derive(Debug)]
struct VerifyingKey {
    name: KeyName,
    material: KeyMaterial,
}

/// Which tokens mean a key.
#[derive(Debug)]
enum KeyName {
    /// Those with this `kid`, and those with none.
    Of(Option<String>),
    /// All: it came without a name.
    Any,
}

#[derive(Debug)]
enum KeyMaterial {
    /// Modulus and exponent, big-endian.
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// With a table of its multiples, since an issuer signs many tokens.
    P256(Box<FixedKeyVerifier>),
}

impl JwkSet {
    /// The keys of a set in JSON. Keys of other kinds than RSA and P-256 are passed over.
    ///
    /// # Errors
    /// A set that is no JSON of this form.
    pub fn read(set: &[u8]) -> Result<Self, serde_json::Error> {
        let set: WrittenSet = serde_json::from_slice(set)?;
        Ok(Self { keys: set.keys.into_iter().filter_map(WrittenKey::into_key).collect() })
    }

    /// The key of a DER `SubjectPublicKeyInfo` (RFC 5280 section 4.1), which every token may mean; none of another kind.
    #[must_use]
    pub fn of_spki(spki: &[u8]) -> Option<Self> {
        let material = KeyMaterial::of_spki(spki).ok().flatten()?;
        Some(Self { keys: vec![VerifyingKey { name: KeyName::Any, material }] })
    }

    /// Takes the keys of another set too.
    pub fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether one of the keys that `kid` may mean made the signature by this algorithm.
    pub(super) fn verifies(
        &self,
        algorithm: &str,
        kid: Option<&str>,
        signed: &[u8],
        signature: &[u8],
    ) -> bool {
        let mut meant = self.keys.iter().filter(|key| key.name.is_meant_by(kid));
        meant.any(|key| match (&key.material, algorithm) {
            (KeyMaterial::Rsa(key), "RS256") => {
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature).is_ok()
            }
            (KeyMaterial::P256(key), "ES256") => {
                let signature = <&[u8; 64]>::try_from(signature);
                signature.is_ok_and(|signature| key.verify_fixed(&sha256(signed).0, signature))
            }
            _ => false,
        })
    }
}

impl KeyName {
    fn is_meant_by(&self, kid: Option<&str>) -> bool {
        match self {
            Self::Of(name) => kid.is_none() || kid == name.as_deref(),
            Self::Any => true,
        }
    }
}

impl KeyMaterial {
    fn of_spki(spki: &[u8]) -> Result<Option<Self>, DerError> {
        let mut fields = Tlv::parse(spki, der::SEQUENCE)?.content();
        let mut algorithm = fields.expect(der::SEQUENCE)?.content();
        let key = fields.expect(der::BIT_STRING)?.bits()?;
        fields.finish()?;
        let kind = algorithm.expect(der::OBJECT_IDENTIFIER)?.value;
        let curve = algorithm.optional(der::OBJECT_IDENTIFIER)?.map(|curve| curve.value);
        match (kind, curve) {
            (EC_PUBLIC_KEY, Some(PRIME256V1)) => {
                Ok(FixedKeyVerifier::new(key).map(|key| Self::P256(Box::new(key))))
            }
            (RSA_ENCRYPTION, None) => {
                let mut numbers = Tlv::parse(key, der::SEQUENCE)?.content();
                let [n, e] = [numbers.expect(der::INTEGER)?, numbers.expect(der::INTEGER)?]
                    .map(|number| number.value.strip_prefix(&[0]).unwrap_or(number.value).to_vec());
                Ok(Some(Self::Rsa(RsaPublicKeyComponents { n, e })))
            }
            _ => Ok(None),
        }
    }
}

#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<WrittenKey>,
}

/// A key of a set (RFC 7518 section 6).
#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
}

impl WrittenKey {
    fn into_key(self) -> Option<VerifyingKey> {
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
        let material = match (self.kty.as_str(), self.crv.as_str()) {
            ("RSA", _) => {
                let (n, e) = (decoded(&self.n)?, decoded(&self.e)?);
                KeyMaterial::Rsa(RsaPublicKeyComponents { n, e })
            }
            ("EC", "P-256") => {
                let (x, y) = (decoded(&self.x)?, decoded(&self.y)?);
                let whole = x.len() == 32 && y.len() == 32;
                let point = whole.then(|| [&[4], x.as_slice(), &y].concat())?;
                KeyMaterial::P256(Box::new(FixedKeyVerifier::new(&point)?))
            }
            _ => return None,
        };
        Some(VerifyingKey { name: KeyName::Of(self.kid), material })
    }
}

/// 1.2.840.10045.2.1.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// 1.2.840.10045.3.1.7.
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.2.840.113549.1.1.1.
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
