//! References from an effect on one run to the operation of another run that caused it.

use serde::{Deserialize, Serialize};

use crate::id::{Generation, RunId, Seed, digest};
use crate::limits::KEY_BYTES_MAX;
use crate::location::Location;

/// An operation of a run. The identity distinguishes runs that reuse the id of a deleted run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "plain data")]
pub struct Link {
    pub run: RunId,
    pub generation: Generation,
    pub location: Location,
    /// Distinguishes the run from others with its id. `None` if an older release wrote the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Seed>,
}

impl Link {
    /// Returns a deduplication key for the effects of the operation: 32 hexadecimal digits.
    #[must_use]
    pub fn key(&self) -> String {
        digest(self.text().as_bytes(), 16)
    }

    /// Returns the dedup id of the event that the operation sends to a run. An event of a run to
    /// itself names the operation, so that it is known even if a loop has dropped its record.
    #[must_use]
    pub fn sent_dedup_id(&self, to: &RunId) -> String {
        let id = format!("sent:{}", self.key());
        let named = format!("{id}:{}", self.location);
        match *to == self.run && named.len() <= KEY_BYTES_MAX {
            true => named,
            false => id,
        }
    }

    /// Returns the location that a dedup id of an event names.
    #[must_use]
    pub fn sent_location(dedup_id: &str) -> Option<Location> {
        let (_, location) = dedup_id.strip_prefix("sent:")?.split_once(':')?;
        location.parse().ok()
    }

    /// Whether both can name the same operation. Identities are compared only if both are known.
    #[must_use]
    pub fn may_be(&self, other: &Self) -> bool {
        let identities = self.identity.zip(other.identity);
        self.run == other.run
            && self.generation == other.generation
            && self.location == other.location
            && identities.is_none_or(|(one, other)| one == other)
    }

    fn text(&self) -> String {
        let Self {
            run,
            generation,
            location,
            identity,
        } = self;
        match identity {
            Some(identity) => format!("{run}\n{generation}\n{location}\n{identity}"),
            None => format!("{run}\n{generation}\n{location}"),
        }
    }
}

impl RunId {
    /// Returns the id of the child that an operation starts, unless the code chooses one. It is the
    /// same on every replay, and differs in a later pass of the function that starts the child
    /// again.
    #[must_use]
    pub fn of_child(call: &Link, pass: u32) -> Self {
        let mark = digest(format!("{}\n{pass}", call.text()).as_bytes(), 10);
        call.run.derived(&mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(identity: Option<u64>) -> Link {
        Link {
            run: RunId::new("order").unwrap(),
            generation: Generation::FIRST,
            location: "ship:0".parse().unwrap(),
            identity: identity.map(Seed),
        }
    }

    #[test]
    fn keys_differ_between_runs_with_the_same_id() {
        assert_eq!(link(Some(1)).key(), link(Some(1)).key());
        assert_ne!(link(Some(1)).key(), link(Some(2)).key());
        assert_ne!(link(Some(1)).key(), link(None).key());
    }

    #[test]
    fn links_without_an_identity_match_any_identity() {
        assert!(link(Some(1)).may_be(&link(None)) && link(None).may_be(&link(Some(1))));
        assert!(link(Some(1)).may_be(&link(Some(1))));
        assert!(!link(Some(1)).may_be(&link(Some(2))));
        let elsewhere = Link {
            location: "ship:1".parse().unwrap(),
            ..link(None)
        };
        assert!(!link(None).may_be(&elsewhere));
    }

    #[test]
    fn links_of_older_releases_keep_their_key() {
        let json = r#"{"run":"order","generation":1,"location":"ship:0"}"#;
        let old: Link = serde_json::from_str(json).unwrap();
        let key = crate::idempotency_key(&old.run, old.generation, &old.location);
        assert_eq!(old.key(), key);
    }

    #[test]
    fn ids_of_children_are_valid_at_any_depth() {
        let location: Location = "ship:0".parse().unwrap();
        let mut run = RunId::new("order.").unwrap();
        for _ in 0..100 {
            let link = |generation, identity| Link {
                run: run.clone(),
                generation,
                location: location.clone(),
                identity: Some(Seed(identity)),
            };
            let call = link(Generation::FIRST, 7);
            let child = RunId::of_child(&call, 1);
            assert_eq!(RunId::new(child.as_str()).unwrap(), child);
            assert_eq!(child, RunId::of_child(&call, 1));
            assert_ne!(child, RunId::of_child(&call, 2));
            assert_ne!(child, RunId::of_child(&link(Generation(2), 7), 1));
            assert_ne!(child, RunId::of_child(&link(Generation::FIRST, 8), 1));
            run = child;
        }
    }
}
