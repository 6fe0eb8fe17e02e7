//! A request to a server as a value, and its response.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CallError;

/// Characters that are not escaped in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':')
    .remove(b'@');

/// Escapes a name for use as a path segment or as a query value.
#[must_use]
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// A request that has not been sent yet.
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until a connection sends it"]
pub struct Call {
    pub(super) method: Method,
    /// The path and query, relative to the URL of the server.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) timeout: Option<Duration>,
}

impl Call {
    /// Creates a request to a path relative to the URL of the server, such as
    /// `workflows/a?wait=30s`. Escape names in it with [`segment`].
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeout: None,
        }
    }

    /// Creates a `GET` request.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Creates a `POST` request without a body.
    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    /// Sets a JSON body.
    pub fn json(self, body: &impl Serialize) -> Result<Self, CallError> {
        let written = serde_json::to_vec(body);
        let written = written.map_err(|error| CallError::Unserializable(error.to_string()))?;
        Ok(self.bytes("application/json", written))
    }

    /// Sets a body with a content type.
    pub fn bytes(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let kind = HeaderValue::from_static(content_type);
        self.headers.insert(header::CONTENT_TYPE, kind);
        self.body = body.into();
        self
    }

    /// Adds a header. Ignores values that are not valid in a header.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Sets a timeout for this request, for requests that wait on the server.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// A successful response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// A status from 200 to 399.
    pub status: StatusCode,
    /// The response headers.
    pub headers: HeaderMap,
    /// The response body.
    pub body: Bytes,
    /// The URL of the request.
    pub(super) address: String,
}

impl Answer {
    /// Decodes the body as JSON. An empty body decodes as `null`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        let body: &[u8] = match self.body.is_empty() {
            true => b"null",
            false => &self.body,
        };
        serde_json::from_slice(body).map_err(|error| CallError::UnexpectedResponse {
            status: None,
            address: self.address.clone(),
            detail: error.to_string(),
        })
    }

    /// Returns the value of a header, or `None` if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
