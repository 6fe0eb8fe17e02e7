//! One call as a value, and its answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CallError;

/// What stands for itself in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':')
    .remove(b'@');

/// A name as one segment of a path, or one value of a query.
#[must_use]
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// A request that is not sent yet.
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until a connection sends it"]
pub struct Call {
    pub(super) method: Method,
    /// Below the address of the server, with its query.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) patience: Option<Duration>,
}

impl Call {
    /// A request to a path below the address of the server, such as `workflows/a?wait=30s`. Names in it are written by
    /// [`segment`].
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            patience: None,
        }
    }

    /// A `GET`.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// A `POST` without a body.
    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    /// The same with a JSON body.
    pub fn json(self, body: &impl Serialize) -> Result<Self, CallError> {
        let written = serde_json::to_vec(body);
        let written = written.map_err(|error| CallError::Unserializable(error.to_string()))?;
        Ok(self.bytes("application/json", written))
    }

    /// The same with a body of some type.
    pub fn bytes(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let kind = HeaderValue::from_static(content_type);
        self.headers.insert(header::CONTENT_TYPE, kind);
        self.body = body.into();
        self
    }

    /// The same with a header more. What cannot be a header's value is left out.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The same with time of its own, for calls that are meant to wait.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }
}

/// What a server answered, well.
#[derive(Clone, Debug)]
pub struct Answer {
    /// A status from 200 to 399.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The address that was called.
    pub(super) address: String,
}

impl Answer {
    /// The body as JSON. An empty body reads as `null`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        let body: &[u8] = match self.body.is_empty() {
            true => b"null",
            false => &self.body,
        };
        serde_json::from_slice(body).map_err(|error| CallError::Strange {
            address: self.address.clone(),
            detail: error.to_string(),
        })
    }

    /// A header's text; none if it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
