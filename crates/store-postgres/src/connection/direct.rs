//! Detects whether a connection leads to a server process or to a pooler. A pooler assigns each
//! statement to any free process, so pipelined statements could be split between two processes.
//!
//! A server announces the process that serves a connection, for cancellation requests; a pooler
//! announces a number of its own. The driver reveals the number only in a cancellation request, so
//! one is sent to a stream that records it.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

/// A cancellation request: length, code, process and secret, four bytes each.
const REQUEST: usize = 16;
const IS_REQUEST: [u8; 8] = [0, 0, 0, 16, 4, 210, 22, 46];
/// How long the check may take. A connection that does not answer counts as pooled.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// The reply of a server that supports TLS.
const SUPPORTS_TLS: u8 = b'S';

/// Whether the server process of this connection is the one that was announced.
pub(crate) async fn is_direct(client: &Client) -> bool {
    let announced = announced_process(client).await;
    announced.is_some() && announced == current_process(client).await
}

async fn current_process(client: &Client) -> Option<i32> {
    let query = client.query_typed("SELECT pg_backend_pid()", &[]);
    let rows = timeout(ANSWER_MAX, query).await.ok()?;
    rows.ok()?.first()?.try_get(0).ok()
}

async fn announced_process(client: &Client) -> Option<i32> {
    let mut sent = Vec::new();
    let cancellation = client.cancel_token();
    let request = cancellation.cancel_query_raw(Recorder(&mut sent), Unencrypted);
    request.await.ok()?;
    // A request for TLS may precede it.
    let request = sent.last_chunk::<REQUEST>()?;
    let process = request.strip_prefix(&IS_REQUEST)?.first_chunk()?;
    Some(i32::from_be_bytes(*process))
}

/// Records what is sent, and claims to support TLS.
struct Recorder<'a>(&'a mut Vec<u8>);

/// A TLS layer that encrypts nothing.
struct Unencrypted;

impl<'a> TlsConnect<Recorder<'a>> for Unencrypted {
    type Stream = Recorder<'a>;
    type Error = io::Error;
    type Future = Ready<io::Result<Recorder<'a>>>;

    fn connect(self, recorder: Recorder<'a>) -> Self::Future {
        ready(Ok(recorder))
    }
}

impl TlsStream for Recorder<'_> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Recorder<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(&[SUPPORTS_TLS]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Recorder<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
#[path = "direct_tests.rs"]
pub(crate) mod tests;
