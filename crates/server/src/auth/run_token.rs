//! Run tokens, for browsers: short-lived, signed, valid for one run from one generation on, one
//! view, and the rpcs and events they name.

use everstep_model::{Generation, RunId, StreamNumber, Timestamp};
use everstep_protocol::access::View;
use serde::{Deserialize, Serialize};

use super::token::Token;

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunToken {
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    /// The journal of the generation, which tells the run from a later one with the same id.
    pub(crate) stream: StreamNumber,
    pub(crate) view: View,
    /// The methods of the rpcs that may be answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rpcs: Vec<String>,
    /// The events that may be sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<String>,
    pub(crate) expires_at: Timestamp,
    /// The name under which journals record what the holder does: the subject of the token, or the
    /// name of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// The id of the key that created the token. Revoking the key revokes the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

impl Token for RunToken {
    const PREFIX: &'static str = "evt_";
    const PURPOSE: &'static str = "everstep run token";

    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

impl RunToken {
    /// Returns whether the token is for a run and a generation. A revived run begins another
    /// generation, and the token follows.
    pub(super) fn is_for(&self, run: &RunId, generation: Generation) -> bool {
        self.run == *run && self.generation <= generation
    }

    pub(super) fn allows_event(&self, name: &str) -> bool {
        self.events.iter().any(|event| event == name)
    }

    pub(super) fn allows_answer(&self, method: &str) -> bool {
        self.rpcs.iter().any(|rpc| rpc == method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::signer::Signer;
    use crate::auth::token::InvalidToken;

    fn token() -> RunToken {
        RunToken {
            run: RunId::new("order-7").unwrap(),
            generation: Generation(3),
            stream: StreamNumber(7),
            view: View::State,
            rpcs: vec!["approve".to_owned()],
            events: Vec::new(),
            expires_at: Timestamp::from_millis(1_000),
            by: Some("web".to_owned()),
            key: Some("k".to_owned()),
        }
    }

    #[test]
    fn a_token_is_valid_until_it_expires() {
        let signer = Signer::new(&[1; 32]);
        let text = token().signed(&signer);
        let at = |millis| RunToken::open(&signer, &text, Timestamp::from_millis(millis));
        assert_eq!(at(999), Ok(token()));
        assert_eq!(at(1_000), Err(InvalidToken::Expired));
        let other = Signer::new(&[2; 32]);
        let forged = token().signed(&other);
        let opened = RunToken::open(&signer, &forged, Timestamp::default());
        assert_eq!(opened, Err(InvalidToken::Forged));
    }
}
