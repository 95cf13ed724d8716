//! The certificate that a nasty server shows, which a client takes unread (`tls.insecure`).

use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A certificate of nobody's, and its key.
#[derive(Clone)]
pub(crate) struct Identity(TlsAcceptor);

impl Identity {
    /// One for `localhost`.
    pub(crate) fn new() -> Self {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        Self(TlsAcceptor::from(Arc::new(config)))
    }

    /// The handshake.
    pub(crate) async fn accept(&self, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(tcp).await
    }
}
