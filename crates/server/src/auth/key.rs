//! API keys: `evk_`, a public id, `_`, and 32 random bytes. The store contains only their hash.

use everstep_engine::streams::StreamError;
use everstep_model::{Name, Timestamp};
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, KeyView, Scope};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::caller::Caller;
use super::limits::Limits;
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
            runs: request.runs,
            streams: request.streams,
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
            runs,
            streams,
            reaches,
            ..
        } = &self.view;
        Caller::with_scopes(name, scopes.iter().copied())
            .limited_to(limits(workflows, runs, streams))
            .reaching(reaches.iter().cloned())
            .with_key(id)
    }
}

fn limits(workflows: &[String], runs: &[String], streams: &[String]) -> Limits {
    let set = |texts: &[String]| texts.iter().cloned().collect();
    Limits {
        workflows: set(workflows),
        runs: set(runs),
        streams: set(streams),
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
    const LIMITS_MAX: usize = 1_000;
    let name = &request.name;
    if name.trim().is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        return Err("a key has a name of 1 to 100 bytes, in one line");
    }
    if request.scopes.is_empty() {
        return Err("a key has at least one scope");
    }
    let has = |scope| request.scopes.contains(&scope);
    let limits = limits(&request.workflows, &request.runs, &request.streams);
    if has(Scope::Work) && request.workflows.is_empty() {
        return Err("a key with the scope `work` names the workflows that it executes");
    }
    if has(Scope::Work) && !request.runs.is_empty() {
        return Err("a key with the scope `work` is limited to workflows, not to run ids");
    }
    if has(Scope::Admin) && !has(Scope::Work) && !limits.is_empty() {
        return Err("a key with the scope `admin` has no limits");
    }
    if !has(Scope::Work) && !request.reaches.is_empty() {
        return Err("only a key with the scope `work` reaches other workflows");
    }
    if limits.len() + request.reaches.len() > LIMITS_MAX {
        return Err(
            "a key names at most 1,000 workflows, beginnings of run ids and of stream paths",
        );
    }
    if !request.reaches.iter().all(|name| Name::new(name).is_ok()) {
        return Err("one of the workflows is not a valid name");
    }
    limits.invalid().map_or(Ok(()), Err)
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
            workflows: workflows.iter().map(|&name| name.to_owned()).collect(),
            ..CreateKey::new("ci", scopes.iter().copied())
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
        assert_eq!(check(&request(&[Scope::Read], &["pay"])), Ok(()));
        let tenant = |scope, workflows: &[&str]| CreateKey {
            runs: vec!["acme-".to_owned()],
            streams: vec!["acme/".to_owned()],
            ..request(&[scope], workflows)
        };
        assert_eq!(check(&tenant(Scope::Start, &["pay"])), Ok(()));
        for wrong in [
            request(&[], &[]),
            request(&[Scope::Work], &[]),
            request(&[Scope::Admin], &["pay"]),
            tenant(Scope::Admin, &[]),
            tenant(Scope::Work, &["pay"]),
            CreateKey {
                streams: vec!["__ds/".to_owned()],
                ..request(&[Scope::Read], &[])
            },
            request(&[Scope::Work], &["\n"]),
            reaching(Scope::Work, &["pay"], "\n"),
            reaching(Scope::Work, &[], "ship"),
            reaching(Scope::Read, &[], "ship"),
        ] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
