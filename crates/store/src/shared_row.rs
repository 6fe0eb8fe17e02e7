//! Shared rows: rows that belong to no stream. Commits of any stream may guard, put and delete
//! them.
//!
//! The key of a shared row is a tuple, and its encoding sorts like the tuple, so a range of keys is
//! a range of bytes in every backend. The store does not interpret the value.

#![allow(missing_docs, reason = "plain data")]

use everstep_model::Timestamp;

/// The purpose of a shared row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SharedKind {
    /// The list row of a schedule.
    Schedule = 1,
    /// A slot of a limit, held by a run.
    Slot = 2,
    /// A run or an operation that waits for a slot or a rate.
    Waiter = 3,
    /// The state of a rate limit.
    Rate = 4,
    /// The virtual finish time of a fair queue.
    Fair = 5,
    /// A delayed run that further starts can join.
    Collecting = 6,
    /// A search attribute of a run.
    Attribute = 7,
    /// An open rpc in the inbox of users.
    OpenRpc = 8,
    /// A journal with new records for a feed, or the position of a feed in a journal.
    Feed = 9,
    /// A stream of a subscription.
    Link = 10,
}

impl SharedKind {
    /// All kinds in ascending order.
    pub const ALL: [Self; 10] = [
        Self::Schedule,
        Self::Slot,
        Self::Waiter,
        Self::Rate,
        Self::Fair,
        Self::Collecting,
        Self::Attribute,
        Self::OpenRpc,
        Self::Feed,
        Self::Link,
    ];

    /// Returns the permanent code of the kind in stored keys.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// One part of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyPart {
    /// Sorts by its bytes.
    Text(String),
    /// Sorts by its value, after all texts.
    Number(u64),
}

impl KeyPart {
    fn encoded_length(&self) -> usize {
        match self {
            Self::Text(text) => 2 + text.len() + text.bytes().filter(|byte| *byte == 0).count(),
            Self::Number(_) => 9,
        }
    }
}

impl From<&str> for KeyPart {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for KeyPart {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for KeyPart {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// The key of a shared row. Keys sort by kind, then part by part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedKey {
    kind: SharedKind,
    parts: Vec<KeyPart>,
}

/// A key is longer than backends can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key of a shared row has {0} bytes; at most {max} are allowed", max = SharedKey::MAX_BYTES)]
pub struct KeyTooLong(pub usize);

impl SharedKey {
    /// The longest encoding of a key. PostgreSQL cannot index much longer ones.
    pub const MAX_BYTES: usize = 1_024;

    /// Returns an error if the encoded key would be longer than [`SharedKey::MAX_BYTES`].
    pub fn new(
        kind: SharedKind,
        parts: impl IntoIterator<Item = KeyPart>,
    ) -> Result<Self, KeyTooLong> {
        let parts: Vec<KeyPart> = parts.into_iter().collect();
        match parts.iter().map(KeyPart::encoded_length).sum() {
            length if length > Self::MAX_BYTES => Err(KeyTooLong(length)),
            _ => Ok(Self { kind, parts }),
        }
    }

    #[must_use]
    pub fn kind(&self) -> SharedKind {
        self.kind
    }

    #[must_use]
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }
}

/// The time of the commit that put a row, by the store's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitTime {
    /// The row has no commit time.
    #[default]
    Absent,
    /// The store fills it in. Stored rows never have this value.
    FillIn,
    /// The time that the store has filled in.
    At(Timestamp),
}

/// A shared row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRow {
    pub key: SharedKey,
    pub value: Vec<u8>,
    pub committed_at: CommitTime,
}

impl SharedRow {
    /// Replaces [`CommitTime::FillIn`] by the time of the commit.
    pub fn fill_in(&mut self, now: Timestamp) {
        if self.committed_at == CommitTime::FillIn {
            self.committed_at = CommitTime::At(now);
        }
    }
}

/// A range of shared rows of one kind, in the order of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRange {
    pub kind: SharedKind,
    /// The first parts of all keys of the range.
    pub prefix: Vec<KeyPart>,
    /// Selects rows after this key, or before it if `reverse` is set. Keys of other kinds sort
    /// before or after all rows of the range.
    pub after: Option<SharedKey>,
    /// The maximum number of rows.
    pub limit: usize,
    /// Whether the largest key comes first.
    pub reverse: bool,
}
