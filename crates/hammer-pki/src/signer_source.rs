//! Where signers come from: files, or a seed.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hammer_values::plain_key_labels;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use crate::authority_key::throwaway_key;
use crate::error::PkiError;
use crate::made_authority::MadeAuthority;
use crate::plan::{PkiTargetPlan, SignerPlan};
use crate::signer::Signer;
use crate::signing_key::SigningKey;

/// Who issues the certificates of made signers, in turn; where there is nobody, each signer does.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignerIssuers<'a> {
    /// The authorities.
    pub authorities: &'a [MadeAuthority],
    /// What stands before [`MadeAuthority::list_path`] where a certificate says by which list it is revoked.
    pub lists_url: &'a str,
}

/// The signers of a plan: those of its files, or those that are made of the seed.
///
/// # Errors
/// A file that cannot be read, or a key that is of no use.
pub fn signers(
    plan: &PkiTargetPlan,
    seed: u64,
    issuers: SignerIssuers<'_>,
) -> Result<Vec<Arc<Signer>>, PkiError> {
    if plan.signers.is_empty() {
        let numbers = 0..plan.made_signers.get() as u64;
        return numbers.map(|number| made(seed, number, issuers).map(Arc::new)).collect();
    }
    plan.signers.iter().map(|signer| of_files(signer).map(Arc::new)).collect()
}

fn of_files(plan: &SignerPlan) -> Result<Signer, PkiError> {
    let SignerPlan { key_file, certificate_file } = plan;
    let missing = |path: &Path, what| PkiError::Pem { path: path.to_owned(), what };
    let text = read(key_file)?;
    let text = plain_key_labels(&text);
    let key = PrivatePkcs8KeyDer::from_pem_slice(&text).map_err(|_| missing(key_file, no_key(&text)))?;
    let text = read(certificate_file)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates =
        certificates.map_err(|_| missing(certificate_file, "a certificate in PEM is broken"))?;
    let mut certificates = certificates.into_iter().map(|certificate| certificate.to_vec());
    let own =
        certificates.next().ok_or_else(|| missing(certificate_file, "there is no certificate in PEM"))?;
    let key = SigningKey::new(key.secret_pkcs8_der(), own);
    let unfit =
        |source| PkiError::Key { path: key_file.clone(), certificate: certificate_file.clone(), source };
    let key = key.map_err(unfit)?;
    Ok(Signer { key, issuers: certificates.collect() })
}

/// What a file has in the place of a key.
fn no_key(text: &[u8]) -> &'static str {
    let has = |words: &str| memchr::memmem::find(text, words.as_bytes()).is_some();
    if has("BEGIN ENCRYPTED PRIVATE KEY") || has("Proc-Type: 4,ENCRYPTED") {
        return "the key is encrypted, which no load can wait for (`openssl pkcs8 -topk8 -nocrypt` writes it as it is needed)";
    }
    if has("BEGIN RSA PRIVATE KEY") || has("BEGIN EC PRIVATE KEY") {
        return "the key is in another form than PKCS #8 (`openssl pkcs8 -topk8 -nocrypt` writes it so)";
    }
    "there is no key of PKCS #8 in PEM (`BEGIN PRIVATE KEY`)"
}

fn read(path: &Path) -> Result<Vec<u8>, PkiError> {
    fs::read(path).map_err(|source| PkiError::Read { path: path.to_owned(), key: "signers", source })
}

/// The signer of a number, whose P-256 key follows from the seed.
fn made(seed: u64, number: u64, issuers: SignerIssuers<'_>) -> Result<Signer, PkiError> {
    let key = throwaway_key(seed, SIGNERS ^ number << 32);
    let pkcs8 = [HEAD.as_slice(), &key.to_be_bytes(), &BETWEEN, key.public_key()].concat();
    let unmade = |why: rcgen::Error| PkiError::Made(why.to_string());
    let pair = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(
        &PrivatePkcs8KeyDer::from(pkcs8.as_slice()),
        &rcgen::PKCS_ECDSA_P256_SHA256,
    );
    let pair = pair.map_err(unmade)?;
    let authorities = issuers.authorities;
    let issuer = authorities.get(number.checked_rem(authorities.len() as u64).unwrap_or_default() as usize);
    let certificate = match issuer {
        Some(issuer) => issuer.certify(&pair, number, issuers.lists_url),
        None => certified_by_itself(&pair, number),
    };
    let key = SigningKey::new(&pkcs8, certificate.map_err(unmade)?);
    let key = key.map_err(|why| PkiError::Made(why.to_string()))?;
    Ok(Signer { key, issuers: issuer.map(|issuer| issuer.certificate().to_vec()).into_iter().collect() })
}

fn certified_by_itself(pair: &rcgen::KeyPair, number: u64) -> Result<Vec<u8>, rcgen::Error> {
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, format!("hammer signer {number}"));
    params.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
    Ok(params.self_signed(pair)?.der().to_vec())
}

const SIGNERS: u64 = 0x504b_5369;
/// A `OneAsymmetricKey` (RFC 5958) of P-256 up to the 32 bytes of the `ECPrivateKey` (RFC 5915).
const HEAD: [u8; 36] = [
    0x30, 0x81, 0x87, 2, 1, 0, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 3, 1, 7, 4, 0x6d, 0x30, 0x6b, 2, 1, 1, 4, 0x20,
];
/// Between those and the point.
const BETWEEN: [u8; 5] = [0xa1, 0x44, 3, 0x42, 0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_signer_has_the_key_of_its_seed_and_number() {
        let plan = PkiTargetPlan::default();
        let spki = |seed, number: usize| {
            let signers = signers(&plan, seed, SignerIssuers::default()).unwrap();
            assert_eq!(signers.len(), 10);
            let certificate = signers[number].key.certificate().to_vec();
            let parsed = hammer_tlog::keys::certificate::Certificate::parse(&certificate).unwrap();
            parsed.spki.to_vec()
        };
        assert_eq!(spki(1, 3), spki(1, 3));
        assert_ne!(spki(1, 3), spki(1, 4));
        assert_ne!(spki(1, 3), spki(2, 3));
    }

    #[test]
    fn what_a_signers_files_lack_is_said_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (key_file, certificate_file) = (folder.path().join("key"), folder.path().join("certificate"));
        let of = || {
            let signer =
                SignerPlan { key_file: key_file.clone(), certificate_file: certificate_file.clone() };
            let plan = PkiTargetPlan { signers: vec![signer], ..PkiTargetPlan::default() };
            signers(&plan, 0, SignerIssuers::default())
        };
        let said = || of().unwrap_err().to_string();
        assert!(said().contains("key: No such file"));
        let pair = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::default().self_signed(&pair).unwrap();
        fs::write(&key_file, pair.serialize_pem().replace("PRIVATE KEY", "EC PRIVATE KEY")).unwrap();
        assert!(said().contains("another form than PKCS #8"), "{}", said());
        fs::write(&key_file, pair.serialize_pem().replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY")).unwrap();
        assert!(said().contains("the key is encrypted"), "{}", said());
        fs::write(&key_file, pair.serialize_der()).unwrap();
        assert!(said().contains("there is no key of PKCS #8 in PEM"), "{}", said());
        fs::write(&key_file, pair.serialize_pem().replace("PRIVATE KEY", "TEST PRIVATE KEY")).unwrap();
        fs::write(&certificate_file, "none").unwrap();
        assert!(said().contains("there is no certificate in PEM"), "{}", said());
        fs::write(&certificate_file, certificate.pem().repeat(2)).unwrap();
        assert_eq!(of().unwrap()[0].issuers.len(), 1);
        fs::write(&key_file, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
        assert!(said().contains("it is of another key"), "{}", said());
    }
}
