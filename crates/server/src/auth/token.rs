//! What tokens of all kinds have in common: a prefix and a signed JSON object that expires. The
//! server stores nothing; a token is valid until it expires, the key that created it is revoked, or
//! the signing secret is replaced.

use everstep_model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::signer::Signer;

/// The content of a token.
pub(crate) trait Token: Serialize + DeserializeOwned {
    /// The prefix of every token of this kind.
    const PREFIX: &'static str;
    /// What the signature is for.
    const PURPOSE: &'static str;

    fn expires_at(&self) -> Timestamp;

    fn signed(&self, signer: &Signer) -> String {
        let content = serde_json::to_vec(self).unwrap_or_default();
        format!("{}{}", Self::PREFIX, signer.sign(Self::PURPOSE, &content))
    }

    fn open(signer: &Signer, text: &str, now: Timestamp) -> Result<Self, InvalidToken> {
        let signed = text.strip_prefix(Self::PREFIX);
        let signed = signed.ok_or(InvalidToken::Forged)?;
        let content = signer.open(Self::PURPOSE, signed);
        let content = content.ok_or(InvalidToken::Forged)?;
        let token: Self = serde_json::from_slice(&content).map_err(|_| InvalidToken::Forged)?;
        match token.expires_at() > now {
            true => Ok(token),
            false => Err(InvalidToken::Expired),
        }
    }
}

/// Why a token is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidToken {
    Forged,
    Expired,
}
