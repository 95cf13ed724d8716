//! Certificates from and to PEM (RFC 7468).

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::error::Error;

/// The certificates of a file in their order, at least one.
pub(crate) fn read_certificates(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let text = fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let certificates: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(&text)
        .map(|der| der.map(|der| der.to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|_| Error::Pem { path: path.to_owned() })?;
    match certificates.is_empty() {
        true => Err(Error::NoCertificate { path: path.to_owned() }),
        false => Ok(certificates),
    }
}

/// Lines of 64 characters between the usual markers.
pub(crate) fn encode_certificate(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = String::with_capacity(text.len() + text.len() / 64 + 60);
    pem.push_str("-----BEGIN CERTIFICATE-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(64));
        pem.push_str(line);
        pem.push('\n');
        rest = tail;
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}
