//! What a subscription is, as it is written down, and how it changes. Pure: time and numbers are given.

use std::collections::BTreeMap;

use everstep_model::{Offset, RecordNumber, Term, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::Refused;
use super::glob::fits;

/// How a subscriber is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    #[serde(rename = "webhook")]
    Webhook,
    #[serde(rename = "pull-wake")]
    PullWake,
}

/// What was asked for.
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
    /// Whether the pattern asks for this stream; never for the one the wakes go to.
    pub(super) fn wants(&self, path: &str) -> bool {
        let pattern = self.pattern.as_deref();
        self.wake_stream.as_deref() != Some(path)
            && pattern.is_some_and(|pattern| fits(pattern, path))
    }
}

/// How a stream came to be subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LinkType {
    Glob,
    Explicit,
}

/// A stream that is subscribed to, and up to where the subscriber has seen it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) link_type: LinkType,
    #[serde(with = "offset_text")]
    pub(super) acked: Offset,
}

/// The subscriber was woken, or is about to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wake {
    pub(super) id: String,
    /// When somebody else may be woken instead.
    pub(super) lease_until: Timestamp,
    /// The worker that took it.
    pub(super) holder: Option<String>,
    /// When a webhook that failed is called again, and how often it has failed.
    pub(super) retry_at: Option<Timestamp>,
    pub(super) failures: u32,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) config: Config,
    /// The address of all streams, as the subscriber knows it.
    pub(super) base_url: String,
    pub(super) links: BTreeMap<String, Link>,
    /// How often it was woken.
    pub(super) generation: u64,
    pub(super) wake: Option<Wake>,
}

/// Up to where a subscriber has seen a stream.
#[derive(Clone, Debug)]
pub(super) struct Ack {
    pub(super) path: String,
    pub(super) offset: Offset,
}

/// The start of a stream, whichever stream it will be.
pub(super) const START: Offset = Offset {
    term: Term(0),
    next: RecordNumber(0),
};

/// Where linked streams end; those that do not exist are left out.
pub(super) type Tails = BTreeMap<String, Offset>;

impl Subscription {
    pub(super) fn is_pending(&self, tails: &Tails) -> bool {
        let mut links = self.links.iter();
        links.any(|(path, link)| tails.get(path).is_some_and(|tail| *tail > link.acked))
    }

    /// Wakes the subscriber anew; what an earlier wake says counts no more.
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

    /// The wake that this is about.
    pub(super) fn current(&mut self, wake_id: &str, generation: u64) -> Result<&mut Wake, Refused> {
        let is_current = self.generation == generation;
        let wake = self.wake.as_mut();
        let wake = wake.filter(|wake| is_current && wake.id == wake_id);
        wake.ok_or(Refused::Fenced)
    }

    /// Notes what the subscriber has seen. Nothing is noted if one of the offsets is not in its stream.
    pub(super) fn ack(&mut self, acks: &[Ack], tails: &Tails) -> Result<(), Refused> {
        for ack in acks {
            let tail = tails.get(&ack.path);
            let known = self.links.contains_key(&ack.path);
            if !known || tail.is_none_or(|tail| ack.offset > *tail) {
                return Err(Refused::InvalidOffset(ack.path.clone()));
            }
        }
        for ack in acks {
            if let Some(link) = self.links.get_mut(&ack.path) {
                link.acked = link.acked.max(ack.offset);
            }
        }
        Ok(())
    }

    /// A worker takes the wake there is, if nobody else holds it.
    pub(super) fn claim(&mut self, worker: &str, now: Timestamp) -> Result<(), Refused> {
        let (until, generation) = (self.lease_from(now), self.generation);
        let Some(wake) = &mut self.wake else {
            return Err(Refused::NothingPending);
        };
        if let Some(holder) = &wake.holder
            && now < wake.lease_until
        {
            return Err(Refused::Claimed {
                holder: holder.clone(),
                generation,
            });
        }
        wake.holder = Some(worker.to_owned());
        wake.lease_until = until;
        Ok(())
    }

    /// When something is to be done although nothing happens.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let wake = self.wake.as_ref()?;
        match (self.config.kind, &wake.holder, wake.retry_at) {
            (Kind::Webhook, _, Some(retry_at)) => Some(retry_at),
            (Kind::Webhook, _, None) | (Kind::PullWake, Some(_), _) => Some(wake.lease_until),
            // A wake that nobody has taken waits in its stream.
            (Kind::PullWake, None, _) => None,
        }
    }
}

mod offset_text {
    //! Offsets as clients write them.

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
    fn only_one_worker_holds_a_wake_until_its_lease_is_over() {
        let mut it = subscription();
        let at = Timestamp::from_millis;
        assert!(matches!(it.claim("x", at(0)), Err(Refused::NothingPending)));
        it.begin_wake("w".to_owned(), at(0));
        it.claim("x", at(0)).unwrap();
        let refused = it.claim("y", at(999)).unwrap_err();
        assert!(matches!(refused, Refused::Claimed { holder, .. } if holder == "x"));
        it.claim("y", at(1_000)).unwrap();
        assert_eq!(it.due(), Some(at(2_000)));
    }

    #[test]
    fn a_later_wake_fences_an_earlier_one() {
        let mut it = subscription();
        it.begin_wake("w1".to_owned(), Timestamp::default());
        assert!(it.current("w1", 1).is_ok() && it.current("w1", 2).is_err());
        it.begin_wake("w2".to_owned(), Timestamp::default());
        assert!(matches!(it.current("w1", 1), Err(Refused::Fenced)));
        assert!(it.current("w2", 2).is_ok());
    }

    #[test]
    fn acks_go_forward_and_not_beyond_the_end() {
        let mut it = subscription();
        assert!(it.is_pending(&tails(3)));
        assert!(it.ack(&[ack(2), ack(4)], &tails(3)).is_err());
        assert_eq!(it.links["a"].acked, START);
        it.ack(&[ack(3)], &tails(3)).unwrap();
        it.ack(&[ack(1)], &tails(3)).unwrap();
        assert_eq!(it.links["a"].acked, offset(3));
        assert!(!it.is_pending(&tails(3)) && !it.is_pending(&Tails::new()));
    }

    #[test]
    fn a_pattern_never_asks_for_its_own_wakes() {
        let it = subscription();
        assert!(it.config.wants("x/y") && !it.config.wants("wakes"));
    }
}
