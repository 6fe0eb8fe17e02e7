//! A minimal HTTP connection whose own cost is small compared with the server's. It sends one
//! request at a time and discards the response, or reads an endless response line by line.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

pub(crate) struct HttpConnection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    /// Reused for responses.
    buffer: Vec<u8>,
    line: String,
}

/// The parts of a response head that describe the body.
#[derive(Default)]
struct Head {
    status: u16,
    length: usize,
    is_chunked: bool,
}

impl HttpConnection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            address,
            buffer: Vec::new(),
            line: String::new(),
        })
    }

    /// Sends a request and waits for the response. Fails unless its status is 2xx.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        text: &str,
    ) -> anyhow::Result<()> {
        self.request(method, path, text).await?;
        let head = self.head().await?;
        if head.is_chunked {
            bail!("{method} {path}: the response has no content length");
        }
        self.buffer.resize(head.length, 0);
        self.stream.read_exact(&mut self.buffer).await?;
        if !(200..300).contains(&head.status) {
            let body = String::from_utf8_lossy(&self.buffer);
            bail!("{method} {path} returned {}: {body}", head.status);
        }
        Ok(())
    }

    /// Begins to read an endless response.
    pub(crate) async fn follow(mut self, path: &str) -> anyhow::Result<EndlessResponse> {
        self.request("GET", path, "").await?;
        let head = self.head().await?;
        if head.status != 200 || !head.is_chunked {
            bail!("GET {path} returned {}", head.status);
        }
        let unread = String::new();
        Ok(EndlessResponse {
            connection: self,
            unread,
        })
    }

    async fn request(&mut self, method: &str, path: &str, text: &str) -> anyhow::Result<()> {
        let (address, length) = (self.address, text.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{text}"
        );
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    async fn head(&mut self) -> anyhow::Result<Head> {
        let line = self.next_line().await?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let mut head = Head {
            status: status.context("the response is not HTTP")?,
            ..Head::default()
        };
        loop {
            let line = self.next_line().await?;
            let Some((name, value)) = line.split_once(':') else {
                return Ok(head);
            };
            if name.eq_ignore_ascii_case("content-length") {
                head.length = value.trim().parse()?;
            }
            head.is_chunked |= name.eq_ignore_ascii_case("transfer-encoding");
        }
    }

    async fn next_line(&mut self) -> anyhow::Result<&str> {
        self.line.clear();
        if self.stream.read_line(&mut self.line).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(self.line.trim_end())
    }
}

/// A response that the server does not end.
pub(crate) struct EndlessResponse {
    connection: HttpConnection,
    /// Received text that was not returned yet.
    unread: String,
}

impl EndlessResponse {
    pub(crate) async fn next_line(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some((line, rest)) = self.unread.split_once('\n') {
                let (line, rest) = (line.to_owned(), rest.to_owned());
                self.unread = rest;
                return Ok(line);
            }
            self.next_chunk().await?;
        }
    }

    async fn next_chunk(&mut self) -> anyhow::Result<()> {
        let connection = &mut self.connection;
        let bytes = usize::from_str_radix(connection.next_line().await?, 16)?;
        if bytes == 0 {
            bail!("the server ended the response");
        }
        connection.buffer.resize(bytes, 0);
        let stream = &mut connection.stream;
        stream.read_exact(&mut connection.buffer).await?;
        self.unread
            .push_str(std::str::from_utf8(&connection.buffer)?);
        connection.next_line().await?;
        Ok(())
    }
}
