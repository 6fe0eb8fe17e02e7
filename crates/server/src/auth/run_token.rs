//! Run tokens: what a browser gets. Short-lived, signed, good for one run and generation, one view, named rpcs and events.
//!
//! `evt_` and a signed JSON object. Nothing is kept of a token; it ends with its time, or with the key that asked for it.

use everstep_model::{Generation, RunId, Timestamp};
use everstep_protocol::access::View;
use serde::{Deserialize, Serialize};

use super::caller::RunGrant;
use super::signer::Signer;

/// What a run token begins with.
pub(super) const PREFIX: &str = "evt_";
const PURPOSE: &str = "everstep run token";

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RunToken {
    pub(super) run: RunId,
    pub(super) generation: Generation,
    pub(super) view: View,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rpcs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<String>,
    pub(super) expires_at: Timestamp,
    /// The id of the key that asked for it: it ends with the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

/// Why a token is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoiled {
    NotOurs,
    Expired,
}

impl RunToken {
    pub(super) fn signed(&self, signer: &Signer) -> String {
        let content = serde_json::to_vec(self).unwrap_or_default();
        format!("{PREFIX}{}", signer.sign(PURPOSE, &content))
    }

    pub(super) fn open(signer: &Signer, text: &str, now: Timestamp) -> Result<Self, Spoiled> {
        let signed = text.strip_prefix(PREFIX).ok_or(Spoiled::NotOurs)?;
        let content = signer.open(PURPOSE, signed).ok_or(Spoiled::NotOurs)?;
        let token: Self = serde_json::from_slice(&content).map_err(|_| Spoiled::NotOurs)?;
        match token.expires_at > now {
            true => Ok(token),
            false => Err(Spoiled::Expired),
        }
    }

    pub(super) fn grant(self) -> RunGrant {
        RunGrant {
            run: self.run,
            generation: self.generation,
            view: self.view,
            rpcs: self.rpcs.into_iter().collect(),
            events: self.events.into_iter().collect(),
            expires_at: self.expires_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> RunToken {
        RunToken {
            run: RunId::new("order-7").unwrap(),
            generation: Generation(3),
            view: View::State,
            rpcs: vec!["approve".to_owned()],
            events: Vec::new(),
            expires_at: Timestamp::from_millis(1_000),
            key: Some("k".to_owned()),
        }
    }

    #[test]
    fn a_token_is_taken_until_its_time_is_over() {
        let signer = Signer::new(&[1; 32]);
        let text = token().signed(&signer);
        let at = |millis| RunToken::open(&signer, &text, Timestamp::from_millis(millis));
        assert_eq!(at(999), Ok(token()));
        assert_eq!(at(1_000), Err(Spoiled::Expired));
        let other = Signer::new(&[2; 32]);
        let forged = token().signed(&other);
        let opened = RunToken::open(&signer, &forged, Timestamp::default());
        assert_eq!(opened, Err(Spoiled::NotOurs));
    }
}
