//! Calls webhooks. Resolves the host, checks every address, and connects to a checked one. Follows
//! no redirects, and limits time and response size.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::webhook_url::{Target, WebhookTargets, check, may_be_called};
use crate::origins::is_loopback_host;

const TIMEOUT: Duration = Duration::from_secs(10);
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

pub(super) struct WebhookResponse {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// Posts JSON to a webhook.
pub(super) async fn post(
    (url, targets): (&str, WebhookTargets),
    signature: &str,
    body: String,
) -> Result<WebhookResponse, String> {
    let target = check(url, targets)?;
    let sent = tokio::time::timeout(TIMEOUT, send(&target, signature, body)).await;
    sent.unwrap_or_else(|_| Err("it took too long".to_owned()))
}

async fn send(target: &Target, signature: &str, body: String) -> Result<WebhookResponse, String> {
    let address = resolve(target).await?;
    let socket = TcpStream::connect(address).await.map_err(text)?;
    let request = Request::post(target.path.as_str())
        .header(header::HOST, target.authority.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header("webhook-signature", signature)
        .body(Body::from(body))
        .map_err(text)?;
    if !target.is_tls {
        return exchange(socket, request).await;
    }
    let name = ServerName::try_from(target.host.clone()).map_err(text)?;
    let secured = tls()?.connect(name, socket).await.map_err(text)?;
    exchange(secured, request).await
}

/// Resolves the host. Fails if any of its addresses must not be called, because such a name cannot
/// be trusted.
async fn resolve(target: &Target) -> Result<SocketAddr, String> {
    let found = lookup_host((target.host.as_str(), target.port)).await;
    let addresses: Vec<SocketAddr> = found.map_err(text)?.collect();
    let is_loopback = is_loopback_host(&target.host);
    let may_be_called = |address: &SocketAddr| may_be_called(address.ip(), is_loopback);
    if !addresses.iter().all(may_be_called) {
        return Err("its host has an address that must not be called".to_owned());
    }
    let first = addresses.first().copied();
    first.ok_or_else(|| "its host has no address".to_owned())
}

fn tls() -> Result<TlsConnector, String> {
    let config = everstep_protocol::client::tls::config(None).map_err(text)?;
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn exchange(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Body>,
) -> Result<WebhookResponse, String> {
    let handshake = http1::handshake(TokioIo::new(socket)).await;
    let (mut sender, connection) = handshake.map_err(text)?;
    let connection = tokio::spawn(connection);
    let response = async {
        let response = sender.send_request(request).await.map_err(text)?;
        let status = response.status();
        let body = to_bytes(Body::new(response.into_body()), RESPONSE_BYTES_MAX).await;
        let body = body.map_err(text)?;
        Ok(WebhookResponse { status, body })
    };
    let response = response.await;
    connection.abort();
    response
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
