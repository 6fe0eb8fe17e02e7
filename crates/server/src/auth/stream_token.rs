//! Stream tokens, for browsers: short-lived, signed, valid for one stream of a user or for all
//! whose paths begin alike, and for reading, appending or both.

use everstep_model::Timestamp;
use everstep_protocol::access::StreamRight;
use serde::{Deserialize, Serialize};

use super::token::Token;

/// The streams of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TokenStreams {
    /// The stream with this path.
    One(String),
    /// The streams whose paths begin with this text.
    BeginningWith(String),
}

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StreamToken {
    pub(crate) streams: TokenStreams,
    pub(crate) allows: Vec<StreamRight>,
    pub(crate) expires_at: Timestamp,
    /// The id of the key that created the token. Revoking the key revokes the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

impl Token for StreamToken {
    const PREFIX: &'static str = "evs_";
    const PURPOSE: &'static str = "everstep stream token";

    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

impl StreamToken {
    pub(super) fn allows(&self, path: &str, right: StreamRight) -> bool {
        let is_named = match &self.streams {
            TokenStreams::One(known) => path == known,
            TokenStreams::BeginningWith(prefix) => path.starts_with(prefix),
        };
        is_named && self.allows.contains(&right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_allows_what_it_names_for_its_streams() {
        let token = |streams, right| StreamToken {
            streams,
            allows: vec![right],
            expires_at: Timestamp::default(),
            key: None,
        };
        let one = token(TokenStreams::One("chat/7".to_owned()), StreamRight::Read);
        assert!(one.allows("chat/7", StreamRight::Read));
        assert!(!one.allows("chat/7", StreamRight::Append));
        assert!(!one.allows("chat/77", StreamRight::Read));
        let beginning = TokenStreams::BeginningWith("chat/".to_owned());
        let many = token(beginning, StreamRight::Append);
        assert!(many.allows("chat/7", StreamRight::Append));
        assert!(!many.allows("chat/7", StreamRight::Read));
        assert!(!many.allows("chats", StreamRight::Append));
    }
}
