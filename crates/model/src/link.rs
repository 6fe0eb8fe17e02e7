//! References from an effect on one run to the operation of another run that caused it.

use serde::{Deserialize, Serialize};

use crate::id::{Generation, RunId, Seed, digest};
use crate::location::Location;

/// An operation of a run. The identity distinguishes runs that reuse the id of a deleted run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "most fields are explained by their names")]
pub struct Link {
    pub run: RunId,
    pub generation: Generation,
    pub location: Location,
    /// Distinguishes the run from others with its id. `None` if an older release wrote the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Seed>,
}

impl Link {
    /// A deduplication key for the effects of the operation: 32 hexadecimal digits.
    #[must_use]
    pub fn key(&self) -> String {
        digest(&self.text(), 16)
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
            Some(Seed(identity)) => format!("{run}\n{generation}\n{location}\n{identity:016x}"),
            None => format!("{run}\n{generation}\n{location}"),
        }
    }
}

impl RunId {
    /// The id of the child that an operation starts unless it chooses one: the same on every replay. A later pass of the
    /// function that starts the child again gets another id.
    #[must_use]
    pub fn of_child(call: &Link, pass: u32) -> Self {
        call.run
            .derived(&digest(&format!("{}\n{pass}", call.text()), 10))
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
    fn runs_of_one_id_have_other_keys() {
        assert_eq!(link(Some(1)).key(), link(Some(1)).key());
        assert_ne!(link(Some(1)).key(), link(Some(2)).key());
        assert_ne!(link(Some(1)).key(), link(None).key());
    }

    #[test]
    fn what_an_older_release_wrote_may_be_meant() {
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
    fn what_an_older_release_wrote_has_the_key_it_had() {
        let json = r#"{"run":"order","generation":1,"location":"ship:0"}"#;
        let old: Link = serde_json::from_str(json).unwrap();
        let place = "ship:0".parse().unwrap();
        let key = crate::idempotency_key(&old.run, old.generation, &place);
        assert_eq!(old.key(), key);
    }

    #[test]
    fn ids_of_children_keep_the_rules_however_deep_the_family() {
        let place: Location = "ship:0".parse().unwrap();
        let mut run = RunId::new("order.").unwrap();
        for _ in 0..100 {
            let link = |generation, identity| Link {
                run: run.clone(),
                generation,
                location: place.clone(),
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
