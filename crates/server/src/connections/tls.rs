//! The TLS certificate of the server, from PEM.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

/// HTTP/2 in the negotiation of TLS.
pub(super) const HTTP2: &[u8] = b"h2";

/// The certificate or its key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The certificate cannot be read.
    #[error("the certificate cannot be used: {0}")]
    Certificate(String),
    /// The key cannot be read.
    #[error("the private key cannot be used: {0}")]
    Key(String),
    /// The certificate and the key do not match.
    #[error("the certificate and the private key do not match: {0}")]
    Pair(String),
}

/// A certificate chain and its private key.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(…)")
    }
}

impl Tls {
    /// Parses a certificate chain, the server's own certificate first, and its private key, both in
    /// PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            let detail = "there is none in the file".to_owned();
            return Err(TlsError::Certificate(detail));
        }
        let key = PrivateKeyDer::from_pem_slice(key);
        let key = key.map_err(|error| TlsError::Key(error.to_string()))?;
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::Pair(error.to_string()))?;
        let config = config.with_no_client_auth().with_single_cert(chain, key);
        let mut config = config.map_err(|error| TlsError::Pair(error.to_string()))?;
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
        })
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }
}
