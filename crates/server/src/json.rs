//! JSON bodies of requests and responses. The nesting depth of a request is limited before anything
//! parses it.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_model::Payload;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::response::no_store;

/// The maximum nesting depth of a request.
pub(crate) const DEPTH_MAX: usize = 64;

/// Returns a JSON response that caches must not store. It ends with a newline, for terminals.
pub(crate) fn respond(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(mut body) => {
            body.push(b'\n');
            no_store(status, "application/json", body)
        }
        Err(error) => {
            let detail = format!("the response cannot be serialized: {error}");
            Failure::uncoded(StatusCode::INTERNAL_SERVER_ERROR, detail).into_response()
        }
    }
}

/// Parses a request. An empty body is an empty object, because all fields may have defaults.
pub(crate) fn request<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Failure> {
    let body = match body {
        [] => b"{}",
        body => {
            check(headers, body, DEPTH_MAX)?;
            body
        }
    };
    serde_json::from_slice(body)
        .map_err(|error| Failure::invalid(format!("the body does not match this request: {error}")))
}

/// Parses a body as a payload. An empty body is `null`.
pub(crate) fn payload(headers: &HeaderMap, body: Bytes) -> Result<Payload, Failure> {
    if body.is_empty() {
        return Ok(Payload::null());
    }
    check(headers, &body, DEPTH_MAX)?;
    Payload::from_json(body).map_err(|error| Failure::invalid(error.to_string()))
}

/// Checks the type and the nesting depth of a body. An empty body needs no type.
pub(crate) fn check(headers: &HeaderMap, body: &[u8], depth_max: usize) -> Result<(), Failure> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    // Web pages of other origins can send other types without a CORS preflight.
    if !body.is_empty() && !essence.eq_ignore_ascii_case("application/json") {
        let detail =
            format!("the body is `application/json`, not `{essence}`; say so in Content-Type");
        return Err(Failure::invalid(detail).with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    check_depth(body, depth_max)
}

/// Rejects JSON that is nested too deeply, without parsing it.
pub(crate) fn check_depth(json: &[u8], max: usize) -> Result<(), Failure> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => depth += 1,
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > max {
            let detail = format!("the JSON is nested deeper than {max} levels");
            return Err(Failure::invalid(detail));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_ignores_brackets_in_strings() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(check_depth(nested(DEPTH_MAX).as_bytes(), DEPTH_MAX).is_ok());
        assert!(check_depth(nested(DEPTH_MAX + 1).as_bytes(), DEPTH_MAX).is_err());
        let text = format!("\"{}\\\"{}\"", "[".repeat(100), "{".repeat(100));
        assert!(check_depth(text.as_bytes(), DEPTH_MAX).is_ok());
        let many = "[],".repeat(1_000);
        assert!(check_depth(many.as_bytes(), DEPTH_MAX).is_ok());
    }
}
