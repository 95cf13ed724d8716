//! Tokens that say who somebody is, minted by the thousand.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hammer_p256::RawSignature;
use hammer_p256::nonce_walk::{NonceBlocks, NonceWalk};
use hammer_synth::{
    key::{FileKey, ThrowawayKey},
    signer::{Algorithm, Signer as _},
};
use ring::digest;
use serde_json::Value;

use crate::keys::{IssuerKeys, SigningKey};

/// What a token says of whom (OpenID Connect Core 1.0 sections 2 and 5.1); the issuer and the audience are the minter's.
#[derive(Debug, Clone, Copy)]
pub struct IdentityClaims<'a> {
    /// The `sub`.
    pub subject: &'a str,
    /// The `email`, said to be verified.
    pub email: Option<&'a str>,
    /// The `iat`, in seconds since the Unix epoch.
    pub issued_at: i64,
    /// The `exp`, in seconds since the Unix epoch.
    pub expires_at: i64,
    /// What else the token says; a name that the token has already is said twice.
    pub extra: &'a [ExtraClaim<'a>],
}

/// Another claim of a token.
#[derive(Debug, Clone, Copy)]
pub struct ExtraClaim<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it says.
    pub value: &'a Value,
}

/// Mints the tokens of one issuer for one audience. The same (seed, index, claims) give the same token; threads share a minter, each
/// with its [`MintScratch`].
///
/// With [`crate::TokenAlgorithm::Es256`] an index stands for a nonce, so that whoever sees two tokens of one index that say different
/// things can work out the key. Everybody may hold it anyway; but an index is meant to be used once.
#[derive(Debug)]
pub struct TokenMinter {
    /// The header in base64url, and the dot behind it.
    header: String,
    /// The beginning of the claims: issuer and audience.
    common: Vec<u8>,
    signer: TokenSigner,
    key_id: String,
}

#[derive(Debug)]
enum TokenSigner {
    Es256(NonceWalk),
    Rs256(ThrowawayKey),
    /// A key of somebody's own, which signs safely and not fast.
    File(Arc<FileKey>),
}

/// What a thread uses again from token to token.
#[derive(Debug, Default)]
pub struct MintScratch {
    claims: Vec<u8>,
    signature: Vec<u8>,
    blocks: NonceBlocks,
}

impl TokenMinter {
    /// A minter for the issuer whose tokens have this `iss`, and for those who look for this `aud`.
    pub fn new(issuer: &str, audience: &str, keys: IssuerKeys) -> Self {
        let (algorithm, key_id) = (keys.algorithm(), keys.key_id().to_owned());
        let kid = Value::from(key_id.as_str());
        let mut header =
            BASE64_URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{algorithm}","typ":"JWT","kid":{kid}}}"#));
        header.push('.');
        let mut common = Vec::new();
        common.extend_from_slice(b"{\"iss\":");
        put_text(&mut common, issuer);
        common.extend_from_slice(b",\"aud\":");
        put_text(&mut common, audience);
        let signer = match keys.key {
            SigningKey::P256(key) => {
                // No nonce is that of another minter of the same key.
                let seed = sha256(&[&keys.nonce_seed[..], &common].concat());
                TokenSigner::Es256(key.walk(&seed, 0))
            }
            SigningKey::Rsa2048(key) => TokenSigner::Rs256(key),
            SigningKey::File(key) => TokenSigner::File(key),
        };
        Self { header, common, signer, key_id }
    }

    /// The `kid` of its tokens.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Appends token `index` to `out`. It allocates nothing once `scratch` and `out` have grown.
    pub fn mint(&self, index: u64, claims: &IdentityClaims<'_>, scratch: &mut MintScratch, out: &mut String) {
        let start = out.len();
        out.push_str(&self.header);
        self.write_claims(claims, &mut scratch.claims);
        BASE64_URL_SAFE_NO_PAD.encode_string(&scratch.claims, out);
        let signed = &out.as_bytes()[start..];
        match &self.signer {
            TokenSigner::Es256(walk) => {
                let signature = walk.sign(index, &sha256(signed), &mut scratch.blocks).to_fixed();
                out.push('.');
                BASE64_URL_SAFE_NO_PAD.encode_string(signature, out);
            }
            TokenSigner::Rs256(key) => {
                scratch.signature.clear();
                key.sign(signed, &mut scratch.signature);
                out.push('.');
                BASE64_URL_SAFE_NO_PAD.encode_string(&scratch.signature, out);
            }
            TokenSigner::File(key) => {
                scratch.signature.clear();
                key.sign(signed, &mut scratch.signature);
                out.push('.');
                // Of P-256 r and s stand there, and no DER (RFC 7518 section 3.4).
                match RawSignature::from_der(&scratch.signature)
                    .filter(|_| key.algorithm() == Algorithm::P256)
                {
                    Some(signature) => BASE64_URL_SAFE_NO_PAD.encode_string(signature.to_fixed(), out),
                    None => BASE64_URL_SAFE_NO_PAD.encode_string(&scratch.signature, out),
                }
            }
        }
    }

    fn write_claims(&self, claims: &IdentityClaims<'_>, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.common);
        out.extend_from_slice(b",\"sub\":");
        put_text(out, claims.subject);
        if let Some(email) = claims.email {
            out.extend_from_slice(b",\"email\":");
            put_text(out, email);
            out.extend_from_slice(b",\"email_verified\":true");
        }
        out.extend_from_slice(b",\"iat\":");
        put_number(out, claims.issued_at);
        out.extend_from_slice(b",\"exp\":");
        put_number(out, claims.expires_at);
        for claim in claims.extra {
            out.push(b',');
            put_text(out, claim.name);
            out.push(b':');
            put_json(out, claim.value);
        }
        out.push(b'}');
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_json(out, &text);
}

fn put_number(out: &mut Vec<u8>, number: i64) {
    put_json(out, &number);
}

fn put_json(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(out, value)
        .expect("a vector takes whatever is written, and every text or value is JSON");
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}
