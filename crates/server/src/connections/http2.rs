//! HTTP/2 with limits. Browsers open only six HTTP/1.1 connections per server, so pages that follow
//! more streams need it. hyper ends connections that reset too many requests or send too large
//! heads.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};

use super::progress::Progress;
use super::table::OpenConnection;

/// The maximum number of concurrent requests on a connection.
const REQUESTS_MAX: u32 = 64;
/// The same as long as no request had a valid key or token. Clients repeat refused requests.
const UNIDENTIFIED_REQUESTS_MAX: usize = 16;
/// The bytes that a client may send before the server has read them, for one request and for all
/// requests of a connection.
const REQUEST_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// The bytes of a response that wait for the client.
const SEND_BUFFER: usize = 64 * 1024;
const FRAME_MAX: u32 = 16 * 1024;
/// How many requests a client may reset before the server has looked at them, and after.
const RESETS_PENDING_MAX: usize = 20;
const RESETS_MAX: usize = 200;
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client without requests has time to close a connection that the server closes.
const CLOSING_IDLE_MAX: Duration = Duration::from_secs(1);

/// The limits of a connection that are configured.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) head_bytes_max: usize,
    pub(super) idle_max: Duration,
    pub(super) stall_max: Duration,
}

/// Serves a connection until the client closes it, or `closing` completes and the requests in
/// flight are answered.
pub(super) async fn exchange(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: TowerToHyperService<Router>,
    open: Arc<OpenConnection>,
    limits: Limits,
    closing: impl Future<Output = ()>,
) {
    let progress = Progress::new();
    let service = service_fn(|mut request: Request<Incoming>| {
        let requests_max = match open.is_identified() {
            true => usize::MAX,
            false => UNIDENTIFIED_REQUESTS_MAX,
        };
        request.extensions_mut().insert(open.clone());
        let in_flight = progress.begin(requests_max);
        let response = in_flight.map(|in_flight| (router.call(request), in_flight));
        async move {
            let refused = || h2::Error::from(h2::Reason::REFUSED_STREAM);
            let (response, in_flight) = response.ok_or_else(refused)?;
            let response = response.await.unwrap_or_else(|never| match never {});
            Ok::<_, h2::Error>(response.map(|body| in_flight.watch(body)))
        }
    });
    let head_bytes_max = u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(REQUESTS_MAX)
        .initial_stream_window_size(REQUEST_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_frame_size(FRAME_MAX)
        .max_header_list_size(head_bytes_max)
        .max_pending_accept_reset_streams(RESETS_PENDING_MAX)
        .max_local_error_reset_streams(RESETS_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .serve_connection(TokioIo::new(socket), service);
    let mut connection = std::pin::pin!(connection);
    let mut closing = std::pin::pin!(closing);
    let mut is_closing = false;
    loop {
        let idle_max = match is_closing {
            true => CLOSING_IDLE_MAX.min(limits.idle_max),
            false => limits.idle_max,
        };
        tokio::select! {
            _ = connection.as_mut() => return,
            () = &mut closing, if !is_closing => {
                connection.as_mut().graceful_shutdown();
                is_closing = true;
            }
            () = tokio::time::sleep(idle_max.min(limits.stall_max) / 2) => {
                // A client that is idle although the connection is closing does not answer.
                let is_idle = progress.is_idle_for(idle_max);
                if progress.is_stalled_for(limits.stall_max) || (is_idle && is_closing) {
                    return;
                }
                if is_idle {
                    connection.as_mut().graceful_shutdown();
                    is_closing = true;
                }
            }
        }
    }
}
