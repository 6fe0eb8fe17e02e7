//! Clients that append and read until the server is killed.

use std::net::SocketAddr;

use crate::client::Client;

/// A client that appends to a stream, as an idempotent producer or not.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) number: usize,
    pub(crate) stream: String,
    pub(crate) is_producer: bool,
    /// The number of the next message.
    pub(crate) next: u64,
    /// The acknowledged messages with their next offsets.
    pub(crate) acknowledged: Vec<(String, String)>,
}

impl Writer {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            number,
            stream: format!("load/{}", number % 3),
            is_producer: number.is_multiple_of(2),
            next: 0,
            acknowledged: Vec::new(),
        }
    }

    fn message(&self) -> String {
        format!("<{}-{}>", self.number, self.next)
    }

    /// Appends until the server is killed.
    pub(crate) fn work(&mut self, server: SocketAddr) {
        let Ok(mut client) = Client::connect(server) else {
            return;
        };
        let kind = ("Content-Type", "text/plain".to_owned());
        let stream = self.stream.clone();
        if client
            .send("PUT", &stream, std::slice::from_ref(&kind), "")
            .is_err()
        {
            return;
        }
        loop {
            let message = self.message();
            let mut headers = vec![kind.clone()];
            if self.is_producer {
                headers.push(("Producer-Id", self.number.to_string()));
                headers.push(("Producer-Epoch", "0".to_owned()));
                headers.push(("Producer-Seq", self.next.to_string()));
            } else {
                // Without a producer, a repeated append would not be recognised, so it is not
                // repeated.
                self.next += 1;
            }
            let Ok(answer) = client.send("POST", &stream, &headers, &message) else {
                return;
            };
            assert!(matches!(answer.status, 200 | 204), "{answer:?}");
            // The response to a repeated append has the offset of the last append only.
            self.acknowledged.push((message, answer.next()));
            if self.is_producer {
                self.next += 1;
            }
        }
    }
}

/// A client that tails a stream and records what it read.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) stream: String,
    pub(crate) offset: String,
    /// The offset, content and next offset of each chunk.
    pub(crate) shown: Vec<(String, String, String)>,
}

impl Reader {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            stream: format!("load/{number}"),
            offset: "-1".to_owned(),
            shown: Vec::new(),
        }
    }

    /// Reads until the server is killed.
    pub(crate) fn work(&mut self, server: SocketAddr) {
        let Ok(mut client) = Client::connect(server) else {
            return;
        };
        loop {
            let path = format!("{}?offset={}&live=long-poll", self.stream, self.offset);
            let Ok(answer) = client.send("GET", &path, &[], "") else {
                return;
            };
            match answer.status {
                200 => {
                    let next = answer.next();
                    let from = std::mem::replace(&mut self.offset, next.clone());
                    self.shown.push((from, answer.body, next));
                }
                // The stream does not exist yet, or the long-poll timed out.
                204 | 404 => {}
                other => panic!("{other}"),
            }
        }
    }
}
