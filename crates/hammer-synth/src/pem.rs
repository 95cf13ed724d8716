//! Certificates from PEM, and whatever else to it (RFC 7468).

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

/// Appends `der` under that label (`PUBLIC KEY`), 64 digits a line.
pub fn write_pem(out: &mut String, label: &str, der: &[u8]) {
    let digits = STANDARD.encode(der);
    out.reserve(digits.len() + digits.len() / LINE + 2 * label.len() + 40);
    out.extend(["-----BEGIN ", label, "-----\n"]);
    let mut rest = digits.as_str();
    while !rest.is_empty() {
        let (line, behind) = rest.split_at(rest.len().min(LINE));
        out.extend([line, "\n"]);
        rest = behind;
    }
    out.extend(["-----END ", label, "-----\n"]);
}

const LINE: usize = 64;
