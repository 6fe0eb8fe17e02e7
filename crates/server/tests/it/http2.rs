//! HTTP/2: with and without TLS, and its limits. Hostile clients send frames by hand.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, Version};
use everstep_server::{Connections, Tls, serve};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::frames::{
    CONTINUATION, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, RST_STREAM, SETTINGS,
    beginning, frame, head_of,
};
use crate::listening::listen;
use crate::support::{TEXT, open, send, server};

const SHORT: Duration = Duration::from_millis(300);
async fn connect(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> SendRequest<Body> {
    let (client, connection) = handshake(TokioExecutor::new(), TokioIo::new(socket))
        .await
        .unwrap();
    tokio::spawn(async move { drop(connection.await) });
    client
}

async fn get(client: &mut SendRequest<Body>, url: &str) -> axum::http::Response<Incoming> {
    let request = Request::get(url).body(Body::empty()).unwrap();
    client.send_request(request).await.unwrap()
}

/// Sends bytes until the server has closed the connection. Returns how many it sent.
async fn flood(server: SocketAddr, mut next: impl FnMut(u32) -> Vec<u8>) -> usize {
    let mut socket = TcpStream::connect(server).await.unwrap();
    let (mut reader, mut writer) = socket.split();
    let sending = async {
        let mut sent = 0;
        writer.write_all(&beginning(&[])).await.unwrap();
        for n in 0..100_000 {
            let bytes = next(n);
            if writer.write_all(&bytes).await.is_err() {
                break;
            }
            sent += bytes.len();
        }
        sent
    };
    let receiving = async {
        let mut buffer = [0; 4096];
        while reader.read(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {}
    };
    tokio::join!(sending, receiving).0
}

/// Waits until the server closes the connection.
async fn closed(mut socket: TcpStream) {
    let mut received = Vec::new();
    // The server may reset the connection.
    let _ = socket.read_to_end(&mut received).await;
}

// B782
#[tokio::test]
async fn a_page_follows_many_streams_over_one_connection() {
    let app = server(open()).await;
    send(&app, "PUT", "/v1/stream/a", &[TEXT], "x").await;
    let address = listen(app, Connections::default()).await;
    let socket = TcpStream::connect(address).await.unwrap();
    let mut client = connect(socket).await;
    let url = format!("http://{address}/v1/stream/a?offset=-1&live=sse");
    let mut streams = Vec::new();
    for _ in 0..50 {
        let stream = get(&mut client, &url).await;
        assert_eq!(
            (stream.version(), stream.status()),
            (Version::HTTP_2, StatusCode::OK)
        );
        streams.push(stream);
    }
}

// B782
#[tokio::test]
async fn clients_negotiate_http2_over_tls() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let mut connections = Connections::default();
    connections.tls = Some(Tls::from_pem(chain.as_bytes(), key.as_bytes()).unwrap());
    let address = listen(server(open()).await, connections).await;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let socket = TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let name = "localhost".try_into().unwrap();
    let secured = connector.connect(name, socket).await.unwrap();
    assert_eq!(secured.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let mut client = connect(secured).await;
    let answer = get(&mut client, "https://localhost/health/live").await;
    assert_eq!(
        (answer.version(), answer.status()),
        (Version::HTTP_2, StatusCode::OK)
    );
}

// B482
#[tokio::test]
async fn streams_and_silent_clients_do_not_delay_the_end_of_the_server() {
    let app = server(open()).await;
    send(&app, "PUT", "/v1/stream/a", &[TEXT], "x").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut connections = Connections::default();
    connections.grace = Duration::from_secs(3_600);
    let (close, closed) = oneshot::channel::<()>();
    let ended = async move { drop(closed.await) };
    let serving = tokio::spawn(serve(listener, app, connections, ended));
    let mut client = connect(TcpStream::connect(address).await.unwrap()).await;
    let url = format!("http://{address}/v1/stream/a?offset=-1&live=sse");
    let stream = get(&mut client, &url).await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    silent.write_all(&beginning(&[])).await.unwrap();
    // The server has answered, so it knows the connection.
    silent.read_exact(&mut [0; 9]).await.unwrap();
    close.send(()).unwrap();
    let body = Body::new(stream.into_body());
    axum::body::to_bytes(body, usize::MAX).await.unwrap();
    serving.await.unwrap();
}

// B783
#[tokio::test]
async fn the_server_announces_its_limits() {
    let address = listen(server(open()).await, Connections::default()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(&beginning(&[])).await.unwrap();
    let mut head = [0; 9];
    socket.read_exact(&mut head).await.unwrap();
    assert_eq!(head[3], SETTINGS);
    let mut settings = vec![0; usize::from(head[2])];
    socket.read_exact(&mut settings).await.unwrap();
    let value_of = |setting: u16| {
        let mut all = settings.chunks(6);
        let found = all
            .find(|entry| entry[..2] == setting.to_be_bytes())
            .unwrap();
        u32::from_be_bytes(found[2..].try_into().unwrap())
    };
    let (max_concurrent_streams, max_header_list_size) = (3, 6);
    assert_eq!(value_of(max_concurrent_streams), 64);
    assert_eq!(value_of(INITIAL_WINDOW_SIZE), 64 * 1024);
    assert_eq!(value_of(max_header_list_size), 16 * 1024);
}

// B783
#[tokio::test]
async fn floods_of_frames_end_the_connection() {
    let address = listen(server(open()).await, Connections::default()).await;
    let reset_requests = |n: u32| {
        let stream = 2 * n + 1;
        let open = frame(HEADERS, END_HEADERS, stream, &head_of("/health/live"));
        [open, frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
    };
    let endless_head = |n: u32| {
        let kind = if n == 0 { HEADERS } else { CONTINUATION };
        let header = [&[0, 1, b'x', 126][..], &[b'y'; 126]].concat();
        frame(kind, END_STREAM * u8::from(n == 0), 1, &header.repeat(8))
    };
    assert!(flood(address, reset_requests).await < 1_000_000);
    assert!(flood(address, endless_head).await < 1_000_000);
    let socket = TcpStream::connect(address).await.unwrap();
    let url = format!("http://{address}/health/live");
    let answer = get(&mut connect(socket).await, &url).await;
    assert_eq!(answer.status(), StatusCode::OK, "others are served");
}

// B783
#[tokio::test]
async fn a_connection_without_a_key_has_few_requests_at_once() {
    let address = listen(server(open()).await, Connections::default()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let mut bytes = beginning(&[(INITIAL_WINDOW_SIZE, 0)]);
    for n in 0..20 {
        let head = head_of("/openapi.json");
        bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, 2 * n + 1, &head));
    }
    socket.write_all(&bytes).await.unwrap();
    let mut refused = 0;
    while refused < 4 {
        let mut head = [0; 9];
        socket.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length.try_into().unwrap()];
        socket.read_exact(&mut payload).await.unwrap();
        if head[3] == RST_STREAM {
            let refused_stream = [0, 0, 0, 7];
            assert_eq!(payload, refused_stream);
            refused += 1;
        }
    }
}

// B783
#[tokio::test]
async fn clients_that_are_idle_or_do_not_read_are_disconnected() {
    let mut connections = Connections::default();
    connections.head_timeout = SHORT;
    let idle = listen(server(open()).await, connections).await;
    let mut socket = TcpStream::connect(idle).await.unwrap();
    socket.write_all(&beginning(&[])).await.unwrap();
    closed(socket).await;

    let mut connections = Connections::default();
    connections.stall_timeout = SHORT;
    let stalling = listen(server(open()).await, connections).await;
    let mut socket = TcpStream::connect(stalling).await.unwrap();
    let no_window = beginning(&[(INITIAL_WINDOW_SIZE, 0)]);
    socket.write_all(&no_window).await.unwrap();
    let flags = END_HEADERS | END_STREAM;
    let request = frame(HEADERS, flags, 1, &head_of("/openapi.json"));
    socket.write_all(&request).await.unwrap();
    closed(socket).await;
}
