//! API keys: `evk_`, an id that is no secret, `_`, and 32 random bytes. Only their hash is kept.

use everstep_engine::streams::StreamError;
use everstep_model::Timestamp;
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, KeyView, Scope};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::caller::Caller;
use super::signer::random_bytes;

/// What an API key begins with.
pub(super) const PREFIX: &str = "evk_";
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

/// A key as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredKey {
    #[serde(flatten)]
    pub(super) view: KeyView,
    /// SHA-256 of its secret, in hexadecimal. Secrets are random, so that a plain hash is as good as a slow one.
    hash: String,
}

impl StoredKey {
    /// Makes a key. The text is for its holder, and for nobody else.
    pub(super) fn make(
        asked: CreateKey,
        by: Option<&str>,
        now: Timestamp,
    ) -> Result<(Self, Secret), StreamError> {
        let id = hex(&random_bytes::<ID_BYTES>()?);
        let secret = hex(&random_bytes::<SECRET_BYTES>()?);
        let text = format!("{PREFIX}{id}_{secret}");
        let view = KeyView {
            id,
            name: asked.name,
            scopes: asked.scopes,
            workflows: asked.workflows,
            created_at: now,
            created_by: by.map(str::to_owned),
        };
        let hash = hash(&secret);
        Ok((Self { view, hash }, text.into()))
    }

    /// Whether this is its secret. Comparing takes as long whatever is wrong.
    pub(super) fn is_opened_by(&self, secret: &str) -> bool {
        self.hash.as_bytes().ct_eq(hash(secret).as_bytes()).into()
    }

    pub(super) fn caller(&self) -> Caller {
        let KeyView {
            name,
            scopes,
            workflows,
            ..
        } = &self.view;
        Caller::with_workflows(name, scopes.iter().copied(), workflows.iter().cloned())
    }
}

/// The id and the secret of a key, if the text may be one.
pub(super) fn parts(text: &str) -> Option<(&str, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let fits = id.len() == 2 * ID_BYTES && secret.len() == 2 * SECRET_BYTES;
    fits.then_some((id, secret))
}

/// What is wrong with a key that somebody wants.
pub(super) fn check(asked: &CreateKey) -> Result<(), &'static str> {
    const NAME_BYTES_MAX: usize = 100;
    const WORKFLOWS_MAX: usize = 1_000;
    let name = &asked.name;
    if name.trim().is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        return Err("a key has a name of 1 to 100 bytes, in one line");
    }
    if asked.scopes.is_empty() {
        return Err("a key has at least one scope");
    }
    let works = asked.scopes.contains(&Scope::Work);
    if works == asked.workflows.is_empty() {
        return Err("a key with the scope `work` names its workflows, and no other key does");
    }
    if asked.workflows.len() > WORKFLOWS_MAX {
        return Err("a key names at most 1,000 workflows");
    }
    match asked
        .workflows
        .iter()
        .all(|workflow| everstep_model::Name::new(workflow).is_ok())
    {
        true => Ok(()),
        false => Err("one of the workflows cannot be the name of one"),
    }
}

fn hash(secret: &str) -> String {
    hex(digest(&SHA256, secret.as_bytes()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(scopes: &[Scope], workflows: &[&str]) -> CreateKey {
        CreateKey {
            name: "ci".to_owned(),
            scopes: scopes.to_vec(),
            workflows: workflows.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn a_key_is_kept_as_a_hash_and_opened_by_its_secret_alone() {
        let made = StoredKey::make(wish(&[Scope::Read], &[]), None, Timestamp::default());
        let (kept, text) = made.unwrap();
        let (id, secret) = parts(text.expose()).unwrap();
        assert_eq!(id, kept.view.id);
        assert!(kept.is_opened_by(secret));
        assert!(!kept.is_opened_by(&secret.replace(|c: char| c != '0', "0")));
        assert!(!kept.is_opened_by(""));
        let written = serde_json::to_string(&kept).unwrap();
        assert!(!written.contains(secret), "{written}");
        let read: StoredKey = serde_json::from_str(&written).unwrap();
        assert_eq!(read, kept);
    }

    #[test]
    fn a_key_that_makes_no_sense_is_not_made() {
        assert_eq!(check(&wish(&[Scope::Read], &[])), Ok(()));
        assert_eq!(check(&wish(&[Scope::Work], &["pay"])), Ok(()));
        for wrong in [
            wish(&[], &[]),
            wish(&[Scope::Work], &[]),
            wish(&[Scope::Read], &["pay"]),
            wish(&[Scope::Work], &["\n"]),
        ] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
