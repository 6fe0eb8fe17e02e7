//! The durable state of a subscription and its transitions. Pure: the time is an argument.

use std::collections::BTreeMap;

use everstep_model::{Offset, RecordNumber, Term, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::SubscriptionError;
use super::glob;

/// How a subscriber is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    #[serde(rename = "webhook")]
    Webhook,
    #[serde(rename = "pull-wake")]
    PullWake,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Config {
    pub(super) kind: Kind,
    pub(super) pattern: Option<String>,
    pub(super) streams: Vec<String>,
    pub(super) webhook: Option<String>,
    pub(super) wake_stream: Option<String>,
    pub(super) lease_ttl_ms: u64,
    pub(super) description: Option<String>,
}

impl Config {
    /// Returns whether the pattern matches this stream. The wake stream itself never matches.
    pub(super) fn matches(&self, path: &str) -> bool {
        let pattern = self.pattern.as_deref();
        self.wake_stream.as_deref() != Some(path)
            && pattern.is_some_and(|pattern| glob::matches(pattern, path))
    }
}

/// Whether a stream was linked by the pattern or by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LinkType {
    Glob,
    Explicit,
}

/// A stream of the subscription, and the offset that the subscriber acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) link_type: LinkType,
    #[serde(with = "offset_text")]
    pub(super) acked: Offset,
}

impl Link {
    /// Returns whether there are unacknowledged messages before the end of the stream.
    pub(super) fn is_pending(&self, tail: Option<&Offset>) -> bool {
        tail.is_some_and(|tail| *tail > self.acked)
    }
}

/// A wake in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wake {
    pub(super) id: String,
    /// After this, the subscriber is woken again, or another worker may claim the wake.
    pub(super) lease_until: Timestamp,
    /// The worker that claimed the wake.
    pub(super) holder: Option<String>,
    /// The time of the next call of a webhook that failed, and the number of failures.
    pub(super) retry_at: Option<Timestamp>,
    pub(super) failures: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) config: Config,
    /// The URL of all streams, as the subscriber addresses them.
    pub(super) base_url: String,
    pub(super) links: BTreeMap<String, Link>,
    /// The number of wakes.
    pub(super) generation: u64,
    pub(super) wake: Option<Wake>,
}

/// The acknowledgement of a stream up to an offset.
#[derive(Clone, Debug)]
pub(super) struct Ack {
    pub(super) path: String,
    pub(super) offset: Offset,
}

/// The start of any stream.
pub(super) const START: Offset = Offset {
    term: Term(0),
    next: RecordNumber(0),
};

/// The ends of the linked streams that exist.
pub(super) type Tails = BTreeMap<String, Offset>;

impl Subscription {
    /// Returns the first stream with unacknowledged messages.
    pub(super) fn first_pending(&self, tails: &Tails) -> Option<&str> {
        let mut links = self.links.iter();
        let pending = links.find(|(path, link)| link.is_pending(tails.get(*path)));
        pending.map(|(path, _)| path.as_str())
    }

    /// Begins a new wake, which invalidates earlier ones.
    pub(super) fn begin_wake(&mut self, id: String, now: Timestamp) {
        self.generation += 1;
        self.wake = Some(Wake {
            id,
            lease_until: self.lease_from(now),
            holder: None,
            retry_at: None,
            failures: 0,
        });
    }

    pub(super) fn lease_from(&self, now: Timestamp) -> Timestamp {
        now.after(std::time::Duration::from_millis(self.config.lease_ttl_ms))
    }

    /// Returns the current wake, if the id and the generation match.
    pub(super) fn current(
        &mut self,
        wake_id: &str,
        generation: u64,
    ) -> Result<&mut Wake, SubscriptionError> {
        let is_current = self.generation == generation;
        let wake = self.wake.as_mut();
        let wake = wake.filter(|wake| is_current && wake.id == wake_id);
        wake.ok_or(SubscriptionError::Fenced)
    }

    /// Records acknowledgements. Records none if one of the offsets is beyond the end of its stream.
    pub(super) fn ack(&mut self, acks: &[Ack], tails: &Tails) -> Result<(), SubscriptionError> {
        for ack in acks {
            let tail = tails.get(&ack.path);
            let known = self.links.contains_key(&ack.path);
            if !known || tail.is_none_or(|tail| ack.offset > *tail) {
                return Err(SubscriptionError::InvalidOffset(ack.path.clone()));
            }
        }
        for ack in acks {
            if let Some(link) = self.links.get_mut(&ack.path) {
                link.acked = link.acked.max(ack.offset);
            }
        }
        Ok(())
    }

    /// Claims the current wake for a worker, unless another worker holds it.
    pub(super) fn claim(&mut self, worker: &str, now: Timestamp) -> Result<(), SubscriptionError> {
        let (until, generation) = (self.lease_from(now), self.generation);
        let Some(wake) = &mut self.wake else {
            return Err(SubscriptionError::NothingPending);
        };
        if let Some(holder) = &wake.holder
            && now < wake.lease_until
        {
            return Err(SubscriptionError::Claimed {
                holder: holder.clone(),
                generation,
            });
        }
        wake.holder = Some(worker.to_owned());
        wake.lease_until = until;
        Ok(())
    }

    /// Returns when the background task must look at the subscription again.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let wake = self.wake.as_ref()?;
        match (self.config.kind, &wake.holder, wake.retry_at) {
            (Kind::Webhook, _, Some(retry_at)) => Some(retry_at),
            (Kind::Webhook, _, None) | (Kind::PullWake, Some(_), _) => Some(wake.lease_until),
            // An unclaimed wake has no deadline.
            (Kind::PullWake, None, _) => None,
        }
    }
}

mod offset_text {
    //! Offsets in the text form that clients use.

    use everstep_model::Offset;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(offset: &Offset, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(offset)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Offset, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(next: u64) -> Offset {
        Offset {
            term: Term(0),
            next: RecordNumber(next),
        }
    }

    fn subscription() -> Subscription {
        let link = Link {
            link_type: LinkType::Explicit,
            acked: START,
        };
        Subscription {
            id: "s".to_owned(),
            config: Config {
                kind: Kind::PullWake,
                pattern: Some("**".to_owned()),
                streams: Vec::new(),
                webhook: None,
                wake_stream: Some("wakes".to_owned()),
                lease_ttl_ms: 1_000,
                description: None,
            },
            base_url: String::new(),
            links: BTreeMap::from([("a".to_owned(), link)]),
            generation: 0,
            wake: None,
        }
    }

    fn tails(next: u64) -> Tails {
        BTreeMap::from([("a".to_owned(), offset(next))])
    }

    fn ack(next: u64) -> Ack {
        Ack {
            path: "a".to_owned(),
            offset: offset(next),
        }
    }

    #[test]
    fn only_one_worker_holds_a_wake_until_its_lease_expires() {
        let mut it = subscription();
        let at = Timestamp::from_millis;
        assert!(matches!(
            it.claim("x", at(0)),
            Err(SubscriptionError::NothingPending)
        ));
        it.begin_wake("w".to_owned(), at(0));
        it.claim("x", at(0)).unwrap();
        let refused = it.claim("y", at(999)).unwrap_err();
        assert!(matches!(refused, SubscriptionError::Claimed { holder, .. } if holder == "x"));
        it.claim("y", at(1_000)).unwrap();
        assert_eq!(it.due(), Some(at(2_000)));
    }

    #[test]
    fn a_later_wake_fences_an_earlier_one() {
        let mut it = subscription();
        it.begin_wake("w1".to_owned(), Timestamp::default());
        assert!(it.current("w1", 1).is_ok() && it.current("w1", 2).is_err());
        it.begin_wake("w2".to_owned(), Timestamp::default());
        assert!(matches!(
            it.current("w1", 1),
            Err(SubscriptionError::Fenced)
        ));
        assert!(it.current("w2", 2).is_ok());
    }

    #[test]
    fn acks_only_advance_and_not_beyond_the_end() {
        let mut it = subscription();
        assert_eq!(it.first_pending(&tails(3)), Some("a"));
        assert!(it.ack(&[ack(2), ack(4)], &tails(3)).is_err());
        assert_eq!(it.links["a"].acked, START);
        it.ack(&[ack(3)], &tails(3)).unwrap();
        it.ack(&[ack(1)], &tails(3)).unwrap();
        assert_eq!(it.links["a"].acked, offset(3));
        assert_eq!(it.first_pending(&tails(3)), None);
        assert_eq!(it.first_pending(&Tails::new()), None);
    }

    #[test]
    fn a_pattern_never_matches_its_own_wake_stream() {
        let it = subscription();
        assert!(it.config.matches("x/y") && !it.config.matches("wakes"));
    }
}
