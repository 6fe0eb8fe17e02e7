//! TLS and keys, end to end over sockets.

use std::sync::Arc;

use everstep_model::ErrorCode;
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, Scope};
use everstep_protocol::client::{
    Call, CallError, Connection, HttpOptions, HttpTransport, TransportError,
};
use everstep_server::{Connections, Keys, Options, Tls, router};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::Value;

use crate::listening::listen;
use crate::support::{engine_on, store};

/// A root certificate, and a certificate for `localhost` signed by it.
struct Certificates {
    root: String,
    chain: String,
    key: String,
}

fn certificates() -> Certificates {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_certificate = root.self_signed(&root_key).unwrap();
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let own = own.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    Certificates {
        root: root_certificate.pem(),
        chain: own.pem(),
        key: key.serialize_pem(),
    }
}

struct Site {
    url: String,
    root: String,
    admin: Secret,
}

async fn site() -> Site {
    let engine = engine_on(&store()).await;
    let admin = CreateKey::new("ops", [Scope::Admin]);
    let admin = Keys::of(&engine).create(admin, None).await.unwrap();
    let certificates = certificates();
    let mut connections = Connections::default();
    let tls = Tls::from_pem(certificates.chain.as_bytes(), certificates.key.as_bytes());
    connections.tls = Some(tls.unwrap());
    let address = listen(router(&engine, Options::default()), connections).await;
    Site {
        url: format!("https://localhost:{}", address.port()),
        root: certificates.root,
        admin: admin.key.into(),
    }
}

impl Site {
    fn connection(&self) -> Connection {
        let options = HttpOptions::default();
        let transport = HttpTransport::with_roots(options, Some(self.root.as_bytes()));
        Connection::over(Arc::new(transport.unwrap()), &self.url).unwrap()
    }

    fn with(&self, key: &Secret) -> Connection {
        self.connection().with_key(key).unwrap()
    }
}

async fn put(connection: &Connection, path: &str) -> Result<String, CallError> {
    let call = Call::new(axum::http::Method::PUT, path).bytes("text/plain", "x");
    let answer = connection.send(call).await?;
    Ok(answer.header("location").unwrap_or_default().to_owned())
}

fn code(refused: Result<String, CallError>) -> Option<ErrorCode> {
    refused.unwrap_err().code()
}

#[tokio::test]
async fn keys_are_created_used_and_revoked_over_tls() {
    let site = site().await;
    let admin = site.with(&site.admin);
    let request = CreateKey::new("writer", [Scope::Send]);
    let created: CreatedKey = admin.post("keys", &request).await.unwrap();
    assert_eq!(created.view.created_by.as_deref(), Some("ops"));
    let listed: KeyList = admin.get("keys").await.unwrap();
    let names: Vec<&str> = listed.keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["ops", "writer"]);

    let writer = site.with(&created.key.as_str().into());
    let location = put(&writer, "v1/stream/a").await.unwrap();
    assert_eq!(location, format!("{}/v1/stream/a", site.url));
    let read = writer.get::<Value>("v1/stream/a").await.unwrap_err();
    assert_eq!(read.code(), Some(ErrorCode::Forbidden));
    assert!(read.to_string().contains("`read`"), "{read}");
    let keys = writer.get::<Value>("keys").await.unwrap_err();
    assert_eq!(keys.code(), Some(ErrorCode::Forbidden));

    let one = format!("keys/{}", created.view.id);
    admin.delete::<()>(&one).await.unwrap();
    let refused = put(&writer, "v1/stream/a").await;
    assert_eq!(code(refused), Some(ErrorCode::Unauthenticated));
    let again = admin.delete::<()>(&one).await.unwrap_err();
    assert_eq!(again.code(), Some(ErrorCode::UnknownKey));
}

#[tokio::test]
async fn requests_without_a_valid_key_are_rejected() {
    let site = site().await;
    let rejected = put(&site.connection(), "v1/stream/a").await;
    assert_eq!(code(rejected), Some(ErrorCode::Unauthenticated));
    let right = site.admin.expose();
    let wrong = [
        "nonsense".to_owned(),
        format!("evk_{}_{}", "0".repeat(16), "0".repeat(64)),
        right.to_uppercase(),
        right[..right.len() - 1].to_owned(),
        format!("{right}0"),
        format!("evt_{}", &right[4..]),
        "x".repeat(8_000),
    ];
    for key in wrong {
        let refused = put(&site.with(&key.as_str().into()), "v1/stream/a").await;
        assert_eq!(code(refused), Some(ErrorCode::Unauthenticated), "{key}");
    }
    assert!(put(&site.with(&site.admin), "v1/stream/a").await.is_ok());
}

#[tokio::test]
async fn a_client_that_does_not_trust_the_root_sends_nothing() {
    let site = site().await;
    let untrusting = Connection::to(&site.url).unwrap();
    let untrusting = untrusting.with_key(&site.admin).unwrap();
    let CallError::Transport(error) = put(&untrusting, "v1/stream/a").await.unwrap_err() else {
        panic!("expected a transport error");
    };
    assert!(matches!(error, TransportError::TlsFailed { .. }), "{error}");
    assert!(error.was_never_sent());
    assert!(error.to_string().contains("root"), "{error}");
}

#[tokio::test]
async fn a_plain_request_to_a_tls_port_gets_no_response() {
    let site = site().await;
    let plain = site.url.replace("https:", "http:");
    let plain = Connection::to(&plain).unwrap();
    let error = put(&plain, "v1/stream/a").await.unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error}");
    assert!(put(&site.with(&site.admin), "v1/stream/a").await.is_ok());
}

#[test]
fn an_unusable_certificate_is_rejected_with_the_reason() {
    let (one, other) = (certificates(), certificates());
    let tls = |chain: &str, key: &str| {
        let tls = Tls::from_pem(chain.as_bytes(), key.as_bytes());
        tls.map(|_| ()).unwrap_err().to_string()
    };
    for (message, expected) in [
        (tls("", &one.key), "the certificate cannot be used"),
        (tls(&one.chain, ""), "the private key cannot be used"),
        (tls(&one.chain, &other.key), "do not match"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

/// Serves over TLS with a certificate that signs itself. Returns its URL without the scheme, and
/// the certificate.
async fn self_signed(authority: bool) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    own.is_ca = match authority {
        true => IsCa::Ca(BasicConstraints::Unconstrained),
        false => IsCa::ExplicitNoCa,
    };
    let certificate = own.self_signed(&key).unwrap().pem();
    let mut connections = Connections::default();
    let tls = Tls::from_pem(certificate.as_bytes(), key.serialize_pem().as_bytes());
    connections.tls = Some(tls.unwrap());
    let engine = engine_on(&store()).await;
    let address = listen(router(&engine, Options::default()), connections).await;
    (format!("localhost:{}", address.port()), certificate)
}

async fn call_trusting(url: &str, certificate: &str) -> Result<(), CallError> {
    let options = HttpOptions::default();
    let transport = HttpTransport::with_roots(options, Some(certificate.as_bytes())).unwrap();
    let connection = Connection::over(Arc::new(transport), url).unwrap();
    connection.send(Call::get("health/live")).await.map(|_| ())
}

// B451
#[tokio::test]
async fn errors_of_secure_connections_say_what_to_change() {
    let (address, certificate) = self_signed(true).await;
    let url = format!("https://{address}");
    let refused = call_trusting(&url, &certificate).await.unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains("basicConstraints=critical,CA:FALSE"),
        "{message}"
    );

    let (address, certificate) = self_signed(false).await;
    let url = format!("https://{address}");
    let answered = call_trusting(&url, &certificate).await;
    assert!(answered.is_ok(), "{answered:?}");

    let url = format!("http://{address}");
    let refused = call_trusting(&url, &certificate).await.unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("use https"), "{message}");
}
