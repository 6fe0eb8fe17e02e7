//! Whether a connection leads to a process of the server, or to a pooler that gives each statement to whichever process is free.
//! What is sent behind another statement may then be torn apart, half of it for one process and half for the next.
//!
//! A server says at the beginning which process serves a connection, so that its statements can be cancelled. A pooler must say
//! something of its own. The driver keeps the number to itself and tells it to whom it sends a cancellation: here, one is sent to
//! nobody.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

/// A request to cancel: its length, what it is, the process, and a secret, four bytes each.
const REQUEST: usize = 16;
const IS_REQUEST: [u8; 8] = [0, 0, 0, 16, 4, 210, 22, 46];
/// How long the question may take; who does not answer is not taken for a server.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// What a server says that speaks TLS.
const SPEAKS_TLS: u8 = b'S';

/// Whether the process that serves this connection is the one that was announced.
pub(crate) async fn is_direct(client: &Client) -> bool {
    let announced = announced(client).await;
    announced.is_some() && announced == serving(client).await
}

async fn serving(client: &Client) -> Option<i32> {
    let question = client.query_typed("SELECT pg_backend_pid()", &[]);
    let rows = timeout(ANSWER_MAX, question).await.ok()?;
    rows.ok()?.first()?.try_get(0).ok()
}

async fn announced(client: &Client) -> Option<i32> {
    let mut heard = Vec::new();
    let cancellation = client.cancel_token();
    let sent = cancellation.cancel_query_raw(Nobody(&mut heard), InTheClear);
    sent.await.ok()?;
    // A request for TLS may have come before.
    let request = heard.last_chunk::<REQUEST>()?;
    let process = request.strip_prefix(&IS_REQUEST)?.first_chunk()?;
    Some(i32::from_be_bytes(*process))
}

/// Hears what is said to a server, and says that it speaks TLS.
struct Nobody<'a>(&'a mut Vec<u8>);

/// TLS with nobody, which hides nothing.
struct InTheClear;

impl<'a> TlsConnect<Nobody<'a>> for InTheClear {
    type Stream = Nobody<'a>;
    type Error = io::Error;
    type Future = Ready<io::Result<Nobody<'a>>>;

    fn connect(self, nobody: Nobody<'a>) -> Self::Future {
        ready(Ok(nobody))
    }
}

impl TlsStream for Nobody<'_> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Nobody<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        said: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        said.put_slice(&[SPEAKS_TLS]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Nobody<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        words: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.extend_from_slice(words);
        Poll::Ready(Ok(words.len()))
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
