//! Chains to submit: from OpenSSL, and minted in any number.

use std::{fs, path::PathBuf};

use hammer_tlog::ct::rfc6962::AddChainRequest;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SerialNumber,
};
use rustls::pki_types::{CertificateDer, pem::PemObject};

pub(crate) fn testdata(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Certificates that OpenSSL made, by their names.
pub(crate) fn openssl(names: &[&str]) -> Vec<Vec<u8>> {
    names
        .iter()
        .map(|name| CertificateDer::from_pem_file(testdata(&format!("openssl/{name}.pem"))).unwrap().to_vec())
        .collect()
}

pub(crate) fn openssl_roots() -> Vec<Vec<u8>> {
    openssl(&["p256-root", "p384-root", "rsa-root", "ed25519-root"])
}

pub(crate) fn tesseract(name: &str) -> Vec<u8> {
    fs::read(testdata(&format!("tesseract/{name}"))).unwrap()
}

/// The body of a submission.
pub(crate) fn body(chain: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    AddChainRequest::write(&mut body, chain);
    body
}

/// A root, an intermediate, and as many leaves as are asked for.
pub(crate) struct Mint {
    pub(crate) root: Vec<u8>,
    intermediate: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
    subject: KeyPair,
}

impl Mint {
    pub(crate) fn new() -> Self {
        let (root_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let root_params = authority("Mint Root");
        let root = root_params.self_signed(&root_key).unwrap().der().to_vec();
        let root_issuer = Issuer::new(root_params, root_key);
        let params = authority("Mint Intermediate");
        let intermediate = params.signed_by(&key, &root_issuer).unwrap().der().to_vec();
        Self { root, intermediate, issuer: Issuer::new(params, key), subject: KeyPair::generate().unwrap() }
    }

    /// The chain of leaf `seq`, without the root; another certificate each time, as nonces are random.
    pub(crate) fn chain(&self, seq: u64) -> Vec<Vec<u8>> {
        self.mint(seq, Vec::new())
    }

    /// The chain of precertificate `seq`, without the root.
    pub(crate) fn precert_chain(&self, seq: u64) -> Vec<Vec<u8>> {
        let mut poison = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 3], vec![5, 0]);
        poison.set_criticality(true);
        self.mint(seq, vec![poison])
    }

    fn mint(&self, seq: u64, extensions: Vec<CustomExtension>) -> Vec<Vec<u8>> {
        let mut params = CertificateParams::new([format!("{seq}.example")]).unwrap();
        let serial = [&[0x55; 8], seq.to_be_bytes().as_slice()].concat();
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.use_authority_key_identifier_extension = true;
        params.custom_extensions = extensions;
        let leaf = params.signed_by(&self.subject, &self.issuer).unwrap();
        vec![leaf.der().to_vec(), self.intermediate.clone()]
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}
