//! The user's own CA.

use std::path::Path;
use std::sync::Arc;

use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::{Hierarchy, Issuer, SignerIdentity};
use crate::error::Error;
use crate::key::FileKey;
use crate::pem;
use crate::signer::Signer as _;

impl Hierarchy {
    /// The CA whose certificates and key are kept in PEM files. `chain` holds the issuing certificate, then its issuer, and
    /// so on; it may end with the root. What it ends with is what the log must accept. A last certificate
    /// that is self-signed is the root and not part of the chain that is sent.
    ///
    /// The key signs with [`FileKey`]'s safe signer; a Precertificate Signing Certificate is not made.
    ///
    /// # Errors
    /// Unreadable files, certificates out of order (compared by name), or a key that is not the first certificate's; the
    /// error names the file.
    pub fn from_files(chain: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, Error> {
        let (chain_path, key_path) = (chain.as_ref(), key.as_ref());
        let mut chain = pem::read_certificates(chain_path)?;
        check_order(chain_path, &chain)?;
        let issuing = parse(chain_path, 0, &chain[0])?;
        let key = FileKey::from_pem_file(key_path)?;
        if issuing.tbs_certificate.subject_pki.raw != key.spki_der() {
            return Err(Error::KeyMismatch { certificate: chain_path.to_owned(), key: key_path.to_owned() });
        }
        let name = issuing.subject().as_raw().to_vec();
        let key_id = subject_key_id(&issuing).map(<[u8]>::to_vec);
        let top = chain.len() - 1;
        let last = parse(chain_path, top, &chain[top])?;
        let is_root = last.subject().as_raw() == last.issuer().as_raw();
        let roots = vec![chain[top].clone()];
        if is_root {
            chain.pop();
        }
        let identity = Arc::new(SignerIdentity { name, key_id, key: Box::new(key), walking: None });
        let issuer = Issuer { identity, chain, precert_signer: None };
        Ok(Self { roots, issuers: vec![issuer], from_files: true })
    }
}

/// The certificate at `position` of a file.
pub(crate) fn parse<'a>(path: &Path, position: usize, der: &'a [u8]) -> Result<X509Certificate<'a>, Error> {
    let failed = |reason: String| Error::Certificate { path: path.to_owned(), position, reason };
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => Ok(certificate),
        Ok(_) => Err(failed("bytes follow the certificate".to_owned())),
        Err(why) => Err(failed(why.to_string())),
    }
}

/// The content of the subjectKeyIdentifier.
pub(crate) fn subject_key_id<'a>(certificate: &X509Certificate<'a>) -> Option<&'a [u8]> {
    certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0),
        _ => None,
    })
}

fn check_order(path: &Path, chain: &[Vec<u8>]) -> Result<(), Error> {
    for (position, pair) in chain.windows(2).enumerate() {
        let issued = parse(path, position, &pair[0])?;
        let issuer = parse(path, position + 1, &pair[1])?;
        if issued.issuer().as_raw() != issuer.subject().as_raw() {
            return Err(Error::ChainOrder { path: path.to_owned(), position });
        }
    }
    Ok(())
}
