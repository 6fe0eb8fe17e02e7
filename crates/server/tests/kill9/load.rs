//! Who appends and who reads, until the server dies.

use std::net::SocketAddr;

use crate::client::Client;

/// One who appends to a stream, as an idempotent producer or without.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) number: usize,
    pub(crate) stream: String,
    pub(crate) is_producer: bool,
    /// What comes next.
    pub(crate) next: u64,
    /// Each message that was acknowledged, with the offset behind it.
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

    /// Appends until the server is gone.
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
                // Nobody would know it again, so it is never sent twice.
                self.next += 1;
            }
            let Ok(answer) = client.send("POST", &stream, &headers, &message) else {
                return;
            };
            assert!(matches!(answer.status, 200 | 204), "{answer:?}");
            // Of an append that was done before, only the last one's end is known.
            self.acknowledged.push((message, answer.next()));
            if self.is_producer {
                self.next += 1;
            }
        }
    }
}

/// One who reads a stream as it grows, and remembers what it was shown.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) stream: String,
    pub(crate) offset: String,
    /// From which offset on, what, and to which offset.
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

    /// Reads until the server is gone.
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
                // Not created yet, or nothing came.
                204 | 404 => {}
                other => panic!("{other}"),
            }
        }
    }
}
