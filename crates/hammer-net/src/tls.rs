//! Whom a client trusts over TLS, and who it is.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hammer_values::plain_key_labels;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::config::HttpVersion;

/// Trust and identity. Files are PEM, read once when the client is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsConfig {
    /// Trusted beside the system's roots.
    pub roots: Vec<PathBuf>,
    /// The client's certificate chain, its own certificate first; no other origin than the endpoints' sees it.
    pub certificate: Option<PathBuf>,
    /// The key of the certificate (PKCS #8, PKCS #1 or SEC 1); the file may be the same.
    pub key: Option<PathBuf>,
    /// No certificate of a server is checked, nor its name. Whoever sets this says so aloud.
    pub insecure: bool,
    /// The name to ask the endpoints for and to find in their certificates, in place of their URLs' hosts.
    pub server_name: Option<String>,
}

/// Why there is no TLS; names the file.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file is missing, unreadable or no PEM of the kind asked for.
    #[error("read {what} from {path}: {reason}")]
    File {
        /// What was looked for.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// Why it was not found.
        reason: String,
    },
    /// Only one of certificate and key.
    #[error("use a client certificate: {missing} is not given")]
    Half {
        /// The missing one.
        missing: &'static str,
    },
    /// Certificate and key do not fit.
    #[error("use the client certificate of {path}: {reason}")]
    Identity {
        /// The certificate's path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Neither a DNS name nor an address.
    #[error("use {name:?} as a server name: it is neither a DNS name nor an IP address")]
    ServerName {
        /// The name as given.
        name: String,
    },
    /// The crypto provider lacks a protocol version.
    #[error("set up TLS: {reason}")]
    Provider {
        /// Why.
        reason: String,
    },
}

/// The settings of every TLS connection of a client.
pub(crate) fn client_config(config: &TlsConfig, version: HttpVersion) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Provider { reason: error.to_string() })?;
    let builder = if config.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
    } else {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(config)?), provider)
            .build()
            .map_err(|error| TlsError::Provider { reason: error.to_string() })?;
        builder.with_webpki_verifier(verifier)
    };
    let mut tls = match identity(config)? {
        None => builder.with_no_client_auth(),
        Some((path, chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| TlsError::Identity { path: path.to_owned(), reason: error.to_string() })?,
    };
    tls.alpn_protocols = alpn(version);
    Ok(Arc::new(tls))
}

/// The settings `own` as they are towards another origin: the same trust, but no certificate of the client, and no session
/// that was agreed on with one.
pub(crate) fn without_identity(own: &ClientConfig) -> Arc<ClientConfig> {
    let mut tls = own.clone();
    tls.client_auth_cert_resolver = Arc::new(Anonymous);
    tls.resumption = Resumption::default();
    Arc::new(tls)
}

/// `name`, to be asked for in a handshake.
pub(crate) fn server_name(name: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(name.to_owned()).map_err(|_| TlsError::ServerName { name: name.to_owned() })
}

fn alpn(version: HttpVersion) -> Vec<Vec<u8>> {
    let names: &[&[u8]] = match version {
        HttpVersion::Negotiated => &[b"h2", b"http/1.1"],
        HttpVersion::Http1 => &[b"http/1.1"],
        HttpVersion::Http2 | HttpVersion::Http2PriorKnowledge => &[b"h2"],
    };
    names.iter().map(|name| name.to_vec()).collect()
}

fn roots(config: &TlsConfig) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for path in &config.roots {
        for root in certificates(path)? {
            store.add(root).map_err(|error| unreadable("a root certificate", path, error))?;
        }
    }
    if store.is_empty() {
        let reason = "neither the system nor the plan has a root certificate".to_owned();
        return Err(TlsError::Provider { reason });
    }
    Ok(store)
}

type Identity<'a> = (&'a Path, Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(config: &TlsConfig) -> Result<Option<Identity<'_>>, TlsError> {
    match (&config.certificate, &config.key) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(TlsError::Half { missing: "its key" }),
        (None, Some(_)) => Err(TlsError::Half { missing: "the certificate of the key" }),
        (Some(certificate), Some(key)) => {
            let chain = certificates(certificate)?;
            let read = fs::read(key).map_err(pem::Error::Io);
            let der = read.and_then(|text| PrivateKeyDer::from_pem_slice(&plain_key_labels(&text)));
            let key = der.map_err(|error| unreadable("a key", key, error))?;
            Ok(Some((certificate, chain, key)))
        }
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let refused = |error| unreadable("certificates", path, error);
    let chain = CertificateDer::pem_file_iter(path)
        .map_err(refused)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(refused)?;
    if chain.is_empty() {
        return Err(unreadable("certificates", path, "there is none in it"));
    }
    Ok(chain)
}

fn unreadable(what: &'static str, path: &Path, reason: impl Display) -> TlsError {
    TlsError::File { what, path: path.to_owned(), reason: reason.to_string() }
}

/// Has no certificate to show.
#[derive(Debug)]
struct Anonymous;

impl ResolvesClientCert for Anonymous {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Takes every certificate; signatures of the handshake are still checked, so that the peer holds the key it shows.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
