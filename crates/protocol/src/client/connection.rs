//! A connection to a server: its URL, the API key, JSON encoding, and problem details as errors.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, Uri, header};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Answer, Call};
use super::error::CallError;
use super::http_transport::{HttpOptions, HttpTransport};
use super::transport::{RequestTimeout, Transport};
use crate::problem::Problem;
use crate::secret::Secret;

/// How many characters of an unexpected response an error message contains.
const DETAIL_CHARS: usize = 200;

/// The text is not the URL of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid server URL `{text}`: {why}; an example is `http://localhost:4437`")]
pub struct InvalidUrl {
    text: String,
    why: String,
}

/// A connection to a server. Cheap to clone.
#[derive(Clone)]
pub struct Connection {
    transport: Arc<dyn Transport>,
    /// The URL without a trailing slash.
    base: Arc<str>,
    authorization: Option<HeaderValue>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects to the server at this URL over HTTP with default options.
    pub fn to(url: &str) -> Result<Self, InvalidUrl> {
        Self::over(Arc::new(HttpTransport::new(HttpOptions::default())), url)
    }

    /// Connects to the server at this URL with another transport.
    pub fn over(transport: Arc<dyn Transport>, url: &str) -> Result<Self, InvalidUrl> {
        let invalid = |why: String| InvalidUrl {
            text: url.to_owned(),
            why,
        };
        let parsed: Uri = url
            .parse()
            .map_err(|error: http::uri::InvalidUri| invalid(error.to_string()))?;
        if !matches!(parsed.scheme_str(), Some("http" | "https")) {
            return Err(invalid("it must begin with http:// or https://".to_owned()));
        }
        if parsed.query().is_some() || url.contains('@') || url.contains('#') {
            let why = "it has no query, no fragment and no user in it";
            return Err(invalid(why.to_owned()));
        }
        Ok(Self {
            transport,
            base: url.trim_end_matches('/').into(),
            authorization: None,
        })
    }

    /// Sends this API key or run token with every request.
    pub fn with_key(mut self, key: &Secret) -> Result<Self, InvalidUrl> {
        let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
        let mut value = value.map_err(|_| InvalidUrl {
            text: self.base.to_string(),
            why: "the API key has invalid characters".to_owned(),
        })?;
        value.set_sensitive(true);
        self.authorization = Some(value);
        Ok(self)
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.base
    }

    /// Sends a `GET` request and decodes the response.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.send(Call::get(path)).await?.json()
    }

    /// Sends a `POST` request with a JSON body and decodes the response.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + ?Sized),
    ) -> Result<T, CallError> {
        self.send(Call::post(path).json(&body)?).await?.json()
    }

    /// Sends a `PUT` request with a JSON body and decodes the response.
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + ?Sized),
    ) -> Result<T, CallError> {
        let call = Call::new(Method::PUT, path).json(&body)?;
        self.send(call).await?.json()
    }

    /// Sends a `DELETE` request and decodes the response.
    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.send(Call::new(Method::DELETE, path)).await?.json()
    }

    /// Sends a request. A response with an error status becomes an error.
    pub async fn send(&self, call: Call) -> Result<Answer, CallError> {
        let address = format!("{}/{}", self.base, call.path.trim_start_matches('/'));
        let request = self.request(call, &address)?;
        let (parts, body) = self.transport.call(request).await?.into_parts();
        if parts.status.is_success() || parts.status.is_redirection() {
            return Ok(Answer {
                status: parts.status,
                headers: parts.headers,
                body,
                address,
            });
        }
        Err(error_of(address, &Response::from_parts(parts, body)))
    }

    fn request(&self, call: Call, address: &str) -> Result<Request<Bytes>, CallError> {
        let uri: Uri = address.parse().map_err(|error: http::uri::InvalidUri| {
            let detail = error.to_string();
            CallError::UnexpectedResponse {
                status: None,
                address: address.to_owned(),
                detail,
            }
        })?;
        let mut request = Request::new(call.body);
        *request.method_mut() = call.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = call.headers;
        let headers = request.headers_mut();
        headers
            .entry(header::ACCEPT)
            .or_insert(HeaderValue::from_static(
                "application/json, application/problem+json, */*;q=0.1",
            ));
        if let Some(authorization) = &self.authorization {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
        if let Some(timeout) = call.timeout {
            request.extensions_mut().insert(RequestTimeout(timeout));
        }
        Ok(request)
    }
}

/// Converts an error response: problem details if there are any, otherwise the status and text.
fn error_of(address: String, response: &Response<Bytes>) -> CallError {
    if let Ok(problem) = serde_json::from_slice::<Problem>(response.body()) {
        return CallError::Problem(problem);
    }
    let text = String::from_utf8_lossy(response.body());
    let start: String = text.chars().take(DETAIL_CHARS).collect();
    CallError::UnexpectedResponse {
        status: Some(response.status().as_u16()),
        address,
        detail: format!("{} {}", response.status(), start.trim())
            .trim()
            .to_owned(),
    }
}
