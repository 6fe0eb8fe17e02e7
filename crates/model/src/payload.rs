//! Payloads: values of users, stored as the exact JSON bytes that were received.

use std::fmt;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::id::digest;
use crate::limits;

// B189
/// One JSON value as bytes, parsed on demand. Clones share the bytes with each other and with a
/// store in memory, so they cannot be changed:
///
/// ```compile_fail,E0594
/// let payload = everstep_model::Payload::null();
/// payload.as_bytes()[0] = b'N';
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Payload(Bytes);

/// Why bytes are not one JSON value.
#[derive(Debug, thiserror::Error)]
#[error("the payload is not valid JSON: {0}")]
pub struct InvalidPayload(#[source] serde_json::Error);

/// Why a value cannot be encoded as a payload or decoded from one.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// Serialising failed.
    #[error("the value cannot be written as JSON: {0}")]
    Unserializable(#[source] serde_json::Error),
    /// The JSON does not have the shape of the type.
    #[error("the JSON does not fit the expected type: {0}")]
    Undecodable(#[source] serde_json::Error),
    /// The payload is too large.
    #[allow(missing_docs, reason = "plain data")]
    #[error(
        "the payload has {bytes} bytes, the limit is {limit}; store large data elsewhere and pass a reference"
    )]
    TooLarge { bytes: usize, limit: usize },
}

impl Payload {
    /// Returns JSON `null`, the result of a step that returns nothing.
    #[must_use]
    pub fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// Serialises a value.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, PayloadError> {
        let bytes = serde_json::to_vec(value).map_err(PayloadError::Unserializable)?;
        let payload = Self(bytes.into());
        payload.check_size()?;
        Ok(payload)
    }

    /// Checks that `bytes` are one JSON value.
    pub fn from_json(bytes: impl Into<Bytes>) -> Result<Self, InvalidPayload> {
        let bytes = bytes.into();
        serde_json::from_slice::<&RawValue>(&bytes).map_err(InvalidPayload)?;
        Ok(Self(bytes))
    }

    /// Wraps a payload that was read from a journal. It was checked when it was written.
    pub(crate) fn from_stored(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Decodes the value.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, PayloadError> {
        serde_json::from_slice(&self.0).map_err(PayloadError::Undecodable)
    }

    /// Returns a digest of the bytes: 32 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&self.0, 16)
    }

    /// Checks that the payload is not too large.
    pub fn check_size(&self) -> Result<(), PayloadError> {
        if self.0.len() > limits::PAYLOAD_BYTES_MAX {
            return Err(PayloadError::TooLarge {
                bytes: self.0.len(),
                limit: limits::PAYLOAD_BYTES_MAX,
            });
        }
        Ok(())
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the JSON text as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("null")
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        Ok(Self(raw.into_string().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_bytes_are_kept() {
        let text = "{ \"a\" : 1.50 }";
        let payload = Payload::from_json(text).unwrap();
        assert_eq!(payload.as_str(), text);
        assert_eq!(serde_json::to_string(&payload).unwrap(), text);
    }

    #[test]
    fn invalid_json_is_refused() {
        assert!(Payload::from_json("{").is_err());
        assert!(Payload::from_json("").is_err());
        assert!(Payload::from_json("1 2").is_err());
    }

    // B8
    #[test]
    fn an_oversized_value_names_the_limit() {
        let error = Payload::from_value(&"x".repeat(limits::PAYLOAD_BYTES_MAX)).unwrap_err();
        assert!(
            error.to_string().contains("the limit is 1048576"),
            "{error}"
        );
    }
}
