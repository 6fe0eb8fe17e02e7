//! TLS for all HTTPS clients: the public root certificates and additional ones.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, crypto};

/// The certificates cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the root certificates cannot be used: {0}")]
pub struct InvalidRoots(String);

/// Creates the configuration of an HTTPS client. `extra_roots` are root certificates (PEM) to trust
/// in addition to the public ones.
pub fn config(extra_roots: Option<&[u8]>) -> Result<ClientConfig, InvalidRoots> {
    let invalid = |error: &dyn std::fmt::Display| InvalidRoots(error.to_string());
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    if let Some(pem) = extra_roots {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| invalid(&error))?;
            roots.add(certificate).map_err(|error| invalid(&error))?;
        }
        if roots.len() == before {
            return Err(invalid(&"there is no certificate in it"));
        }
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid(&error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
