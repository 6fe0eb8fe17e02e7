//! API keys: `evk_`, a public id, `_`, and 32 random bytes. The store contains only their hash.

use everstep_engine::streams::StreamError;
use everstep_model::{Name, Timestamp};
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, KeyView, Scope};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::caller::Caller;
use super::signer::random_bytes;

/// The prefix of every API key.
pub(super) const PREFIX: &str = "evk_";
const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

/// A key in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredKey {
    #[serde(flatten)]
    pub(super) view: KeyView,
    /// SHA-256 of the secret in hexadecimal. Secrets are random, so a slow hash would add nothing.
    hash: String,
}

impl StoredKey {
    /// Creates a key. The text is returned to the caller and not stored.
    pub(super) fn create(
        request: CreateKey,
        by: Option<&str>,
        now: Timestamp,
    ) -> Result<(Self, Secret), StreamError> {
        let id = hex(&random_bytes::<ID_BYTES>()?);
        let secret = hex(&random_bytes::<SECRET_BYTES>()?);
        let text = format!("{PREFIX}{id}_{secret}");
        let view = KeyView {
            id,
            name: request.name,
            scopes: request.scopes,
            workflows: request.workflows,
            reaches: request.reaches,
            created_at: now,
            created_by: by.map(str::to_owned),
        };
        let hash = hash(&secret);
        Ok((Self { view, hash }, text.into()))
    }

    /// Returns whether this is the secret of the key. Compares in constant time.
    pub(super) fn has_secret(&self, secret: &str) -> bool {
        self.hash.as_bytes().ct_eq(hash(secret).as_bytes()).into()
    }

    pub(super) fn caller(&self) -> Caller {
        let KeyView {
            id,
            name,
            scopes,
            workflows,
            reaches,
            ..
        } = &self.view;
        Caller::with_workflows(name, scopes.iter().copied(), workflows.iter().cloned())
            .reaching(reaches.iter().cloned())
            .with_key(id)
    }
}

/// Splits a key into id and secret, if the text has the form of a key.
pub(super) fn parts(text: &str) -> Option<(&str, &str)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let fits = id.len() == 2 * ID_BYTES && secret.len() == 2 * SECRET_BYTES;
    fits.then_some((id, secret))
}

/// Validates a request to create a key.
pub(super) fn check(request: &CreateKey) -> Result<(), &'static str> {
    const NAME_BYTES_MAX: usize = 100;
    const WORKFLOWS_MAX: usize = 1_000;
    let name = &request.name;
    if name.trim().is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        return Err("a key has a name of 1 to 100 bytes, in one line");
    }
    if request.scopes.is_empty() {
        return Err("a key has at least one scope");
    }
    let works = request.scopes.contains(&Scope::Work);
    if works == request.workflows.is_empty() {
        return Err("a key with the scope `work` names its workflows, and no other key does");
    }
    if !works && !request.reaches.is_empty() {
        return Err("only a key with the scope `work` reaches other workflows");
    }
    if request.workflows.len() + request.reaches.len() > WORKFLOWS_MAX {
        return Err("a key names at most 1,000 workflows");
    }
    let mut workflows = request.workflows.iter().chain(&request.reaches);
    match workflows.all(|workflow| Name::new(workflow).is_ok()) {
        true => Ok(()),
        false => Err("one of the workflows is not a valid name"),
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

    fn request(scopes: &[Scope], workflows: &[&str]) -> CreateKey {
        CreateKey {
            name: "ci".to_owned(),
            scopes: scopes.to_vec(),
            workflows: workflows.iter().map(|&name| name.to_owned()).collect(),
            reaches: Vec::new(),
        }
    }

    #[test]
    fn a_key_is_stored_as_a_hash_and_matches_its_secret_only() {
        let created = StoredKey::create(request(&[Scope::Read], &[]), None, Timestamp::default());
        let (stored, text) = created.unwrap();
        let (id, secret) = parts(text.expose()).unwrap();
        assert_eq!(id, stored.view.id);
        assert!(stored.has_secret(secret));
        assert!(!stored.has_secret(&secret.replace(|c: char| c != '0', "0")));
        assert!(!stored.has_secret(""));
        let written = serde_json::to_string(&stored).unwrap();
        assert!(!written.contains(secret), "{written}");
        let read: StoredKey = serde_json::from_str(&written).unwrap();
        assert_eq!(read, stored);
    }

    #[test]
    fn invalid_keys_are_rejected() {
        assert_eq!(check(&request(&[Scope::Read], &[])), Ok(()));
        assert_eq!(check(&request(&[Scope::Work], &["pay"])), Ok(()));
        let reaching = |scope, workflows: &[&str], reached: &str| CreateKey {
            reaches: vec![reached.to_owned()],
            ..request(&[scope], workflows)
        };
        assert_eq!(check(&reaching(Scope::Work, &["pay"], "ship")), Ok(()));
        for wrong in [
            request(&[], &[]),
            request(&[Scope::Work], &[]),
            request(&[Scope::Read], &["pay"]),
            request(&[Scope::Work], &["\n"]),
            reaching(Scope::Work, &["pay"], "\n"),
            reaching(Scope::Work, &[], "ship"),
            reaching(Scope::Read, &[], "ship"),
        ] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
