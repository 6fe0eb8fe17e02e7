//! A minimal HTTP connection whose own cost is small compared with the server's. It sends one
//! request at a time and discards the response, or reads an endless response line by line.

use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

pub(crate) struct HttpConnection {
    stream: BufReader<TcpStream>,
    /// The address of the server, as a header has it.
    host: String,
    /// Reused for requests.
    request: Vec<u8>,
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

impl Head {
    fn parse<'a>(mut lines: impl Iterator<Item = &'a str>) -> anyhow::Result<Self> {
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let mut head = Self {
            status: status.context("the response is not HTTP")?,
            ..Self::default()
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                head.length = value.trim().parse()?;
            }
            head.is_chunked |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        Ok(head)
    }
}

impl HttpConnection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: address.to_string(),
            request: Vec::new(),
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
        let (host, length) = (&self.host, text.len());
        self.request.clear();
        write!(
            self.request,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{text}"
        )?;
        Ok(self.stream.write_all(&self.request).await?)
    }

    async fn head(&mut self) -> anyhow::Result<Head> {
        let received = self.stream.fill_buf().await?;
        let mut ends = received.windows(END_OF_HEAD.len());
        let end = ends.position(|bytes| bytes == END_OF_HEAD);
        // Nearly always received as a whole.
        if let Some(text) = end.and_then(|end| received.get(..end)) {
            let head = Head::parse(std::str::from_utf8(text)?.lines())?;
            let length = text.len() + END_OF_HEAD.len();
            self.stream.consume(length);
            return Ok(head);
        }
        let mut lines = Vec::new();
        loop {
            match self.next_line().await? {
                "" => return Head::parse(lines.iter().map(String::as_str)),
                line => lines.push(line.to_owned()),
            }
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
