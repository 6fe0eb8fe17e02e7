//! The durable state of a subscription and its transitions. Pure: the time is an argument.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_model::{Offset, RecordNumber, Term, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::SubscriptionError;
use super::glob;
use crate::auth::Limits;

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
    /// Whether calls of the webhook contain the messages of feeds, and a successful response
    /// acknowledges them.
    #[serde(default)]
    pub(super) with_messages: bool,
}

impl Config {
    /// Returns whether a caller reaches all streams that this names: those that wake the
    /// subscriber, and the one that the server appends to.
    pub(super) fn is_reached(&self, limits: &Limits) -> bool {
        let named = self.streams.iter().chain(&self.wake_stream);
        let mut named = named.map(String::as_str);
        let pattern = self.pattern.as_deref();
        named.all(|path| limits.reaches_stream(path))
            && pattern.is_none_or(|pattern| limits.reaches_pattern(pattern))
    }

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
    /// The time at which the call of the webhook in flight has ended at the latest.
    #[serde(default)]
    pub(super) called_until: Option<Timestamp>,
    /// The worker that claimed the wake.
    pub(super) holder: Option<String>,
    /// The time of the next call of a webhook that failed, and the number of failures since the
    /// last success.
    pub(super) retry_at: Option<Timestamp>,
    pub(super) failures: u32,
}

impl Wake {
    /// Returns when the subscriber may be woken again.
    fn ends_at(&self) -> Timestamp {
        let called_until = self.called_until.unwrap_or_default();
        self.lease_until.max(called_until)
    }
}

/// What a wake that is due needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The webhook is called again.
    Retry,
    /// The lease has expired, so a new wake begins.
    Wake,
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

/// How long a call of a webhook takes at most, with its preparation and the record of its result.
const CALL_MAX: Duration = Duration::from_secs(15);

/// The start of any stream.
pub(super) const START: Offset = Offset {
    term: Term(0),
    next: RecordNumber(0),
};

/// The ends of the linked streams that exist.
pub(super) type Tails = BTreeMap<String, Offset>;

impl Subscription {
    /// Returns whether a caller reaches all streams of the subscription.
    pub(super) fn is_reached(&self, limits: &Limits) -> bool {
        let mut links = self.links.keys();
        self.config.is_reached(limits) && links.all(|path| limits.reaches_stream(path))
    }

    /// Returns the first stream with unacknowledged messages.
    pub(super) fn first_pending(&self, tails: &Tails) -> Option<&str> {
        let mut links = self.links.iter();
        let pending = links.find(|(path, link)| link.is_pending(tails.get(*path)));
        pending.map(|(path, _)| path.as_str())
    }

    /// Begins a new wake, which invalidates earlier ones.
    pub(super) fn begin_wake(&mut self, id: String, now: Timestamp) {
        let failures = self.wake.take().map_or(0, |earlier| earlier.failures);
        self.generation += 1;
        self.wake = Some(Wake {
            id,
            lease_until: self.lease_from(now),
            called_until: self.call_from(now),
            holder: None,
            retry_at: None,
            failures,
        });
    }

    /// Returns when a call of the webhook that begins now has ended. `None` for a wake stream.
    fn call_from(&self, now: Timestamp) -> Option<Timestamp> {
        let is_webhook = self.config.kind == Kind::Webhook;
        is_webhook.then(|| now.after(CALL_MAX))
    }

    /// Returns what the current wake needs now.
    pub(super) fn due_now(&self, now: Timestamp) -> Option<Due> {
        let wake = self.wake.as_ref()?;
        if let Some(retry_at) = wake.retry_at {
            return (retry_at <= now).then_some(Due::Retry);
        }
        let is_held = wake.holder.is_some() || self.config.kind == Kind::Webhook;
        (is_held && wake.ends_at() <= now).then_some(Due::Wake)
    }

    /// Begins the next call of a webhook that failed. Returns false if it is not due, because
    /// another node has begun it.
    pub(super) fn begin_retry(&mut self, now: Timestamp) -> bool {
        if self.due_now(now) != Some(Due::Retry) {
            return false;
        }
        let (lease_until, called_until) = (self.lease_from(now), self.call_from(now));
        if let Some(wake) = &mut self.wake {
            wake.retry_at = None;
            wake.lease_until = lease_until;
            wake.called_until = called_until;
        }
        true
    }

    /// Records the end of a call: a success, which begins the lease, or a failure with the time of
    /// the next call.
    pub(super) fn end_call(
        &mut self,
        generation: u64,
        now: Timestamp,
        retry: Option<impl Fn(u32) -> Timestamp>,
    ) {
        let lease_until = self.lease_from(now);
        let is_current = self.generation == generation;
        let Some(wake) = self.wake.as_mut().filter(|_| is_current) else {
            return;
        };
        wake.called_until = None;
        wake.lease_until = lease_until;
        match retry {
            Some(at) => {
                wake.retry_at = Some(at(wake.failures));
                wake.failures += 1;
            }
            None => wake.failures = 0,
        }
    }

    pub(super) fn lease_from(&self, now: Timestamp) -> Timestamp {
        now.after(Duration::from_millis(self.config.lease_ttl_ms))
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

    /// Records acknowledgements. Records none if one of the offsets is beyond the end of its
    /// stream.
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
            (Kind::Webhook, _, None) | (Kind::PullWake, Some(_), _) => Some(wake.ends_at()),
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
pub(super) mod tests {
    use super::*;

    fn offset(next: u64) -> Offset {
        Offset {
            term: Term(0),
            next: RecordNumber(next),
        }
    }

    pub(in crate::subscriptions) fn subscription() -> Subscription {
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
                with_messages: false,
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

    // B483
    #[test]
    fn a_webhook_is_called_once_at_a_time_and_its_failures_survive_the_lease() {
        let mut it = subscription();
        it.config.kind = Kind::Webhook;
        let at = Timestamp::from_millis;
        it.begin_wake("w".to_owned(), at(0));
        // The lease of a second is over, and the call is in flight.
        assert_eq!(it.due_now(at(9_999)), None);
        for failures in 0..3_u32 {
            let start = 100_000 * u64::from(failures);
            let retry = |known| at(start + 60_000 + u64::from(known));
            it.end_call(1, at(start + 10_000), Some(retry));
            // The retry comes after the end of the lease, and no wake comes before it.
            assert_eq!(it.due_now(at(start + 59_999)), None);
            let retried_at = start + 60_000 + u64::from(failures);
            assert_eq!(it.due(), Some(at(retried_at)));
            assert_eq!(it.due_now(at(retried_at)), Some(Due::Retry));
            assert!(it.begin_retry(at(retried_at)));
            // Another node that has seen the same failure does not call too.
            assert!(!it.begin_retry(at(retried_at)));
            assert_eq!(it.due_now(at(retried_at + 9_999)), None);
        }
        // The node of the last call has died.
        let due = it.due().unwrap();
        assert_eq!(it.due_now(due), Some(Due::Wake));
        it.begin_wake("w2".to_owned(), due);
        assert_eq!(it.wake.as_ref().unwrap().failures, 3);
        it.end_call(2, due, None::<fn(u32) -> Timestamp>);
        assert_eq!(it.wake.as_ref().unwrap().failures, 0);
        assert_eq!(it.due(), Some(due.after(Duration::from_secs(1))));
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
