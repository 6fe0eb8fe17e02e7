//! TLS to the server, by rustls. Certificates are always checked, against a given authority or
//! those that browsers trust.

use everstep_store::StoreError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection::options::Options;

pub(crate) fn connector(options: &Options) -> Result<MakeRustlsConnect, StoreError> {
    let mut roots = RootCertStore::empty();
    match &options.authority {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            let unusable = |error: String| StoreError::Unavailable {
                detail: format!("cannot use the certificates in {}: {error}", file.display()),
            };
            let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
            let certificates: Vec<_> = certificates.map_err(|error| unusable(error.to_string()))?;
            for certificate in certificates {
                let added = roots.add(certificate);
                added.map_err(|error| unusable(error.to_string()))?;
            }
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
