//! HTTP/1.1 for the test, and the well-behaved client whose latencies are measured.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval};

use crate::target::Target;

/// The pause between two requests of the well-behaved client.
const PACE: Duration = Duration::from_millis(5);
const STREAM: &str = "/v1/stream/good";

pub(crate) struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
        Self {
            head,
            body: Vec::new(),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.head += &format!("{name}: {value}\r\n");
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn body(mut self, content_type: &str, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        let length = self.body.len().to_string();
        self.header("Content-Type", content_type)
            .header("Content-Length", &length)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A connection.
pub(crate) struct Http(TcpStream);

impl Http {
    pub(crate) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        Ok(Self(socket))
    }

    pub(crate) fn over(socket: TcpStream) -> Self {
        Self(socket)
    }

    /// Sends a request and reads the response, which has a length.
    pub(crate) async fn send(&mut self, request: &Request) -> io::Result<Response> {
        self.0.write_all(&request.bytes()).await?;
        let mut received = Vec::new();
        let head = loop {
            let end = received.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                break end + 4;
            }
            if self.0.read_buf(&mut received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let mut body = received.split_off(head);
        let head = String::from_utf8_lossy(&received).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().unwrap());
        while body.len() < length {
            if self.0.read_buf(&mut body).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = head[9..12].parse().unwrap();
        Ok(Response { status, body })
    }
}

/// The latencies of a well-behaved client.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    /// Of appends, on a connection that stays open.
    pub(crate) appends: Vec<Duration>,
    /// Of reads, each on a connection of its own.
    pub(crate) reads: Vec<Duration>,
    pub(crate) failures: Vec<String>,
}

impl Latencies {
    pub(crate) fn extend(&mut self, others: Self) {
        self.appends.extend(others.appends);
        self.reads.extend(others.reads);
    }
}

/// A client with a key that appends, reads and starts runs.
pub(crate) struct WellBehaved {
    address: SocketAddr,
    key: String,
    kept: Http,
    runs: usize,
}

impl WellBehaved {
    pub(crate) async fn connect(target: &Target) -> Self {
        let mut kept = Http::connect(target.address).await.unwrap();
        let create = Request::new("PUT", STREAM).key(&target.key);
        let created = kept.send(&create.body("text/plain", "")).await.unwrap();
        assert_eq!(created.status, 201);
        Self {
            address: target.address,
            key: target.key.clone(),
            kept,
            runs: 0,
        }
    }

    /// Sends requests for a while. A run that begins first must complete.
    pub(crate) async fn measure(&mut self, time: Duration) -> Latencies {
        let mut latencies = Latencies::default();
        let run = self.start_run(&mut latencies).await;
        let append = self.request("POST", STREAM).body("text/plain", "x");
        let read = self.request("HEAD", STREAM);
        let mut pace = interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begun = Instant::now();
        while begun.elapsed() < time {
            pace.tick().await;
            let at = Instant::now();
            match self.kept.send(&append).await {
                Ok(response) if response.status == 204 => latencies.appends.push(at.elapsed()),
                other => {
                    latencies.failures.push(format!("append: {other:?}"));
                    self.kept = Http::connect(self.address).await.unwrap();
                }
            }
            let at = Instant::now();
            match self.fresh(&read).await {
                Ok(response) if response.status == 200 => latencies.reads.push(at.elapsed()),
                other => latencies.failures.push(format!("read: {other:?}")),
            }
        }
        let finished = self.request("GET", &format!("/workflows/{run}?wait=20s"));
        let finished = self.fresh(&finished).await.unwrap();
        let text = String::from_utf8_lossy(&finished.body).into_owned();
        if !text.contains(r#""status":"completed""#) {
            latencies.failures.push(format!("run: {text}"));
        }
        latencies
    }

    async fn start_run(&mut self, latencies: &mut Latencies) -> String {
        self.runs += 1;
        let id = format!("run-{}", self.runs);
        let body = json!({"type": "hello", "id": id, "input": {"name": "Ada"}});
        let start = self.request("POST", "/workflows");
        let start = start.body("application/json", &body.to_string());
        match self.fresh(&start).await {
            Ok(response) if response.status == 201 => {}
            other => latencies.failures.push(format!("start: {other:?}")),
        }
        id
    }

    async fn fresh(&self, request: &Request) -> io::Result<Response> {
        Http::connect(self.address).await?.send(request).await
    }

    fn request(&self, method: &str, path: &str) -> Request {
        Request::new(method, path).key(&self.key)
    }
}
