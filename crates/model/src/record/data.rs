//! Messages of users' streams. Journals contain none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serializer};

use crate::codec::records;

records! {
    /// A message of a user's stream.
    pub struct Data {
        /// Base64 in JSON.
        #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
        pub bytes: Bytes,
        /// Whether this is the last message of its append.
        pub ends: bool,
    }
}

fn to_base64<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
    Ok(bytes.into())
}
