//! Requests over sockets: connections that are kept open and shared, http and https, bounded in time and bytes.

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
use super::transport::{Patience, Transport, TransportError};

/// How requests are sent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// How long a request may take, unless it says itself ([`Patience`]).
    pub patience: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a connection that nobody uses is kept.
    pub idle_timeout: Duration,
    /// Connections that nobody uses and that are kept.
    pub idle_max: usize,
    /// Bytes of an answer.
    pub answer_bytes_max: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            idle_max: 64,
            answer_bytes_max: 256 * 1024 * 1024,
        }
    }
}

/// Sends requests by HTTP. Connections are kept open and shared by all clones.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    options: HttpOptions,
}

impl HttpTransport {
    /// Believes the public root certificates.
    #[must_use]
    pub fn new(options: HttpOptions) -> Self {
        // Without certificates of somebody else there is nothing that could be wrong with them.
        match Self::with_roots(options, None) {
            Ok(transport) => transport,
            Err(_) => unreachable!("the public roots and ring's ciphers fit together"),
        }
    }

    /// Believes these certificates, in PEM, besides the public ones.
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
        let asked = request.extensions().get::<Patience>();
        let patience = asked.map_or(self.options.patience, |asked| asked.0);
        let address = site(request.uri());
        let exchange = exchange(self.clone(), request, address.clone());
        async move {
            let answered = tokio::time::timeout(patience, exchange).await;
            answered.unwrap_or(Err(TransportError::TimedOut { address, patience }))
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
        Ok(whole) => Ok(Response::from_parts(parts, whole.to_bytes())),
        Err(error) => Err(TransportError::Broken {
            address,
            detail: innermost(&*error).to_string(),
        }),
    }
}

/// Scheme and host of an address; what stands behind them may be nobody's business.
fn site(uri: &Uri) -> String {
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
        return TransportError::Broken { address, detail };
    }
    if let Some(io) = chain(error).find_map(|cause| cause.downcast_ref::<io::Error>())
        && io.kind() == io::ErrorKind::ConnectionRefused
    {
        return TransportError::Nobody { address };
    }
    if let Some(tls) = chain(error).find_map(|cause| as_tls(cause)) {
        let hint = match tls {
            rustls::Error::InvalidCertificate(_) => {
                "; if its certificate is your own, name the root that signed it"
            }
            rustls::Error::InvalidMessage(_) => "; does it speak http instead of https?",
            _ => "",
        };
        let detail = format!("{tls}{hint}");
        return TransportError::Insecure { address, detail };
    }
    TransportError::Unreachable { address, detail }
}

/// A TLS error, which travels inside errors of I/O; those do not name it as their source.
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

/// The cause of the causes says most.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}
