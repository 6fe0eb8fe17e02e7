//! Ids of runs, streams and nodes, and the numbers that fence writers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::limits;
use crate::location::Location;
use crate::text::{excerpt, json_as_text};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $name {
            /// Returns the number after this one.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }
    };
}

number! {
    /// A generation of a run: 1 for the first, incremented by each restart and recovery.
    Generation(u32)
}
number! {
    /// The number that a store assigns to a new stream: sequential, never reused, and the key of
    /// its rows.
    StreamNumber(u64)
}
number! {
    /// The fencing number of a claim, incremented each time the run is claimed. 0 means never
    /// claimed.
    Epoch(u64)
}
number! {
    /// The number of an executor's commit within its epoch, starting at 1.
    ExecutorSeq(u64)
}

impl Generation {
    /// The first generation of a run.
    pub const FIRST: Self = Self(1);
}

/// A random number that accompanies an [`Epoch`], so that fencing works even if a lossy failover
/// rewinds the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Nonce(pub u64);

/// One incarnation of an engine process; random, new at every start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The seed of a run's random numbers, fixed at creation. Hexadecimal in JSON, where 64 bits do not
/// fit a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

json_as_text!(Seed, |text| u64::from_str_radix(text, 16).map(Seed));

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The id of a run, chosen by the caller that starts it: 1–255 of `A-Z a-z 0-9 . _ : -`, without
/// `..`, and not `.` alone, because clients remove such a segment from the path of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Arc<str>);

json_as_text!(RunId, RunId::new);

/// A run id that breaks the rules of [`RunId`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid run id {given:?}: {reason}; use 1 to {} characters of A-Z a-z 0-9 . _ : - without \"..\", and not \".\" alone",
    limits::RUN_ID_BYTES_MAX
)]
pub struct InvalidRunId {
    /// The invalid text, shortened.
    pub given: String,
    /// The rule that the text breaks.
    pub reason: &'static str,
}

impl RunId {
    /// Checks `text` against the rules.
    pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidRunId> {
        let text = text.as_ref();
        let refuse = |reason| {
            let given = excerpt(text);
            Err(InvalidRunId { given, reason })
        };
        if text.is_empty() {
            return refuse("it is empty");
        }
        if text.len() > limits::RUN_ID_BYTES_MAX {
            return refuse("it is too long");
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        if !text.chars().all(allowed) {
            return refuse("it has a character that is not allowed");
        }
        if text.contains("..") {
            return refuse("it contains \"..\"");
        }
        if text == "." {
            return refuse("it is \".\", which clients remove from URLs");
        }
        Ok(Self(text.into()))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text with which records name this run as their author.
    #[must_use]
    pub fn as_author(&self) -> String {
        format!("run {self}")
    }

    /// Returns an id that begins like this one, for readability, and ends with `mark`, which makes
    /// it unique.
    pub(crate) fn derived(&self, mark: &str) -> Self {
        let prefix = self.0.get(..CHILD_PREFIX_BYTES).unwrap_or(&self.0);
        Self(format!("{prefix}-{mark}").into())
    }
}

/// The part of the parent's id that a child's id repeats, so that ids of deep families do not
/// outgrow their limit.
const CHILD_PREFIX_BYTES: usize = 128;

impl AsRef<str> for RunId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The prefix of the names of users' streams.
const USER_PREFIX: &str = "streams/";

/// The name of a stream in a store. A run's journal is `workflows/{id}`, later generations
/// `workflows/{id}@{n}`; a user's stream is `streams/{path}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamName(Arc<str>);

impl StreamName {
    /// Returns the name of the journal of one generation of a run.
    #[must_use]
    pub fn of_run(id: &RunId, generation: Generation) -> Self {
        if generation == Generation::FIRST {
            Self(format!("workflows/{id}").into())
        } else {
            Self(format!("workflows/{id}@{generation}").into())
        }
    }

    /// Returns the run and generation, if this is the name of a journal.
    #[must_use]
    pub fn run(&self) -> Option<(RunId, Generation)> {
        let rest = self.0.strip_prefix("workflows/")?;
        let (id, generation) = match rest.split_once('@') {
            Some((id, n)) => (id, Generation(n.parse().ok()?)),
            None => (rest, Generation::FIRST),
        };
        Some((RunId::new(id).ok()?, generation))
    }

    /// Returns the name of a user's stream.
    #[must_use]
    pub fn of_user(path: &str) -> Self {
        Self(format!("{USER_PREFIX}{path}").into())
    }

    /// Returns the path, if this is the name of a user's stream.
    #[must_use]
    pub fn user_path(&self) -> Option<&str> {
        self.0.strip_prefix(USER_PREFIX)
    }

    /// Wraps a name that was read from a store. It was checked when it was written.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id by which clients answer an rpc.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RpcId(pub Arc<str>);

impl RpcId {
    /// Returns the id of the rpc at `location`. Forks and later generations have other ids.
    #[must_use]
    pub fn of(run: &RunId, generation: Generation, location: &Location) -> Self {
        let mut key = idempotency_key(run, generation, location);
        key.truncate(16);
        Self(format!("rpc_{key}").into())
    }
}

impl fmt::Display for RpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the key that every attempt of one step shares: 32 hexadecimal digits from run,
/// generation and location.
#[must_use]
pub fn idempotency_key(run: &RunId, generation: Generation, location: &Location) -> String {
    digest(format!("{run}\n{generation}\n{location}").as_bytes(), 16)
}

/// Returns the first `length` bytes of the SHA-256 digest in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8], length: usize) -> String {
    let digest = Sha256::digest(bytes).into_iter().take(length);
    digest.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // B544
    #[test]
    fn run_ids_outside_the_alphabet_are_refused_with_the_rule() {
        for bad in ["", ".", "a b", "a/b", "a..b", "ü", &"x".repeat(256)] {
            assert!(RunId::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "order-1:x_y.z", &"x".repeat(255)] {
            assert_eq!(RunId::new(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn a_stream_name_contains_its_run() {
        let id = RunId::new("order-7").unwrap();
        for generation in [Generation::FIRST, Generation(3)] {
            let name = StreamName::of_run(&id, generation);
            assert_eq!(name.run(), Some((id.clone(), generation)));
        }
        assert_eq!(StreamName::from_stored("chat/room").run(), None);
    }

    #[test]
    fn a_path_of_a_user_never_names_a_journal() {
        for path in ["chat/room", "workflows/order-7", ""] {
            let name = StreamName::of_user(path);
            assert_eq!((name.run(), name.user_path()), (None, Some(path)));
        }
        let run = RunId::new("streams").unwrap();
        let journal = StreamName::of_run(&run, Generation::FIRST);
        assert_eq!(journal.user_path(), None);
    }
}
