//! A server with TLS. The unit tests use it too.

use everstep_private_postgres::Server;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

/// The file with the certificate of the authority.
pub(crate) const AUTHORITY: &str = "authority.crt";

/// A server whose certificate is for `localhost`.
pub(crate) fn start() -> Server {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_certificate = root.self_signed(&root_key).unwrap();
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let own = own.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    let settings = [
        ("ssl", "on"),
        ("ssl_cert_file", "server.crt"),
        ("ssl_key_file", "server.key"),
    ];
    let files = [
        (AUTHORITY, root_certificate.pem()),
        ("server.crt", own.pem()),
        ("server.key", key.serialize_pem()),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    Server::start_with_files(&settings, &files)
}
