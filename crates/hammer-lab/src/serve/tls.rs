//! TLS from PEM files.

use std::{fs, path::PathBuf, sync::Arc};

use hammer_values::plain_key_labels;
use rustls::{
    ServerConfig,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};
use serde::{Deserialize, Serialize};
use tokio_rustls::TlsAcceptor;

use crate::error::LabError;

/// The server's certificate chain and key, in PEM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// Certificate chain, leaf first.
    pub certificate: PathBuf,
    /// PKCS#8, PKCS#1 or SEC1 key.
    pub key: PathBuf,
}

impl TlsFiles {
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, LabError> {
        let unusable = |path: &PathBuf, reason: String| LabError::Content { path: path.clone(), reason };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect)
            .map_err(|error| unusable(&self.certificate, error.to_string()))?;
        let key = fs::read(&self.key)
            .map_err(pem::Error::Io)
            .and_then(|text| PrivateKeyDer::from_pem_slice(&plain_key_labels(&text)))
            .map_err(|error| unusable(&self.key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| unusable(&self.certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
