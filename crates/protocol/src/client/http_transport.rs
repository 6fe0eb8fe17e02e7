//! The transport over sockets: pooled HTTP and HTTPS connections with timeouts and size limits.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::tls::{self, InvalidRoots};
use super::transport::{RequestTimeout, Transport, TransportError};

/// Options of the HTTP transport.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The timeout of a request, unless the request has its own ([`RequestTimeout`]).
    pub timeout: Duration,
    /// The timeout for connecting.
    pub connect_timeout: Duration,
    /// How long idle connections are kept.
    pub idle_timeout: Duration,
    /// The maximum number of idle connections.
    pub idle_max: usize,
    /// The maximum size of a response.
    pub answer_bytes_max: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            idle_max: 64,
            answer_bytes_max: 256 * 1024 * 1024,
        }
    }
}

/// Sends requests over HTTP. All clones share the pooled connections.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    options: HttpOptions,
}

impl HttpTransport {
    /// Trusts the public root certificates.
    #[must_use]
    pub fn new(options: HttpOptions) -> Self {
        // Only additional certificates can be invalid.
        match Self::with_roots(options, None) {
            Ok(transport) => transport,
            Err(_) => unreachable!("the public roots and ring's ciphers fit together"),
        }
    }

    /// Trusts these certificates (PEM) in addition to the public ones.
    pub fn with_roots(
        options: HttpOptions,
        extra_roots: Option<&[u8]>,
    ) -> Result<Self, InvalidRoots> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(options.connect_timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls::config(extra_roots)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.idle_timeout)
            .pool_max_idle_per_host(options.idle_max)
            .build(connector);
        Ok(Self { client, options })
    }
}

impl Transport for HttpTransport {
    fn call(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<Bytes>, TransportError>> {
        let of_request = request.extensions().get::<RequestTimeout>();
        let timeout = of_request.map_or(self.options.timeout, |timeout| timeout.0);
        let address = origin(request.uri());
        let exchange = exchange(self.clone(), request, address.clone());
        async move {
            let response = tokio::time::timeout(timeout, exchange).await;
            response.unwrap_or(Err(TransportError::TimedOut { address, timeout }))
        }
        .boxed()
    }
}

async fn exchange(
    transport: HttpTransport,
    request: Request<Bytes>,
    address: String,
) -> Result<Response<Bytes>, TransportError> {
    let sent = transport.client.request(request.map(Full::new)).await;
    let (parts, body) = match sent {
        Ok(response) => response.into_parts(),
        Err(error) => return Err(explain(address, &error, error.is_connect())),
    };
    let body = Limited::new(body, transport.options.answer_bytes_max);
    match body.collect().await {
        Ok(body) => Ok(Response::from_parts(parts, body.to_bytes())),
        Err(error) => Err(TransportError::Broken {
            address,
            detail: innermost(&*error).to_string(),
        }),
    }
}

/// Returns the scheme and host of a URL. The rest may be confidential.
fn origin(uri: &Uri) -> String {
    let scheme = uri.scheme().unwrap_or(&Scheme::HTTP);
    let host = uri.authority().map_or("", |authority| authority.as_str());
    format!("{scheme}://{host}")
}

fn explain(
    address: String,
    error: &(dyn Error + 'static),
    while_connecting: bool,
) -> TransportError {
    let detail = innermost(error).to_string();
    if !while_connecting {
        let is_parse = |cause: &hyper::Error| cause.is_parse();
        let is_foreign = chain(error).any(|it| it.downcast_ref().is_some_and(is_parse));
        let detail = match is_foreign && address.starts_with("http:") {
            true => "the answer is not http; if the server has a certificate, use https".to_owned(),
            false => detail,
        };
        return TransportError::Broken { address, detail };
    }
    if let Some(io) = chain(error).find_map(|cause| cause.downcast_ref::<io::Error>())
        && io.kind() == io::ErrorKind::ConnectionRefused
    {
        return TransportError::ConnectionRefused { address };
    }
    if let Some(tls) = chain(error).find_map(|cause| as_tls(cause)) {
        let hint = match tls {
            rustls::Error::InvalidCertificate(error) if is_authority(error) => {
                "; the server uses the certificate of a certificate authority as its own. A self-signed certificate \
                 that servers can use is created by `openssl req -x509 -newkey rsa:2048 -noenc -keyout key.pem \
                 -out cert.pem -days 365 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                 -addext basicConstraints=critical,CA:FALSE`"
            }
            rustls::Error::InvalidCertificate(_) => {
                "; if the server uses a private certificate authority, pass its root certificate"
            }
            rustls::Error::InvalidMessage(_) => "; does it speak http instead of https?",
            _ => "",
        };
        let detail = format!("{tls}{hint}");
        return TransportError::TlsFailed { address, detail };
    }
    TransportError::Unreachable { address, detail }
}

/// Returns whether the server's own certificate is that of an authority. rustls has no variant for
/// it.
fn is_authority(error: &rustls::CertificateError) -> bool {
    matches!(error, rustls::CertificateError::Other(other) if other.0.to_string() == "CaUsedAsEndEntity")
}

/// Finds a TLS error inside an I/O error, which does not report it as its source.
fn as_tls<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(tls);
    }
    let io = cause.downcast_ref::<io::Error>()?;
    as_tls(io.get_ref()?)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns the innermost cause, which is the most specific.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}
