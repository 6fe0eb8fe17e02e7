//! Which effects wait for which: those of one run on another are a lane and keep their order, lanes do not wait for each
//! other.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use everstep_model::{RunId, StreamNumber};
use everstep_store::OutboxRow;

use super::effect::Effect;

/// Lanes that are delivered at the same time.
const LANES_AT_ONCE: usize = 256;

/// How long a lane rests after its first failure; twice as long after each further one.
const REST: Duration = Duration::from_millis(500);
/// How long it rests at most.
const REST_MAX: Duration = Duration::from_secs(30);

/// From whom, and to whom; effects that cannot be read here share a lane.
pub(super) type Lane = (StreamNumber, Option<RunId>);

/// An effect that waits for its turn.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) stream: StreamNumber,
    pub(super) key: String,
    /// None if it cannot be read here.
    pub(super) effect: Option<Effect>,
    /// Whether this node caused it, and has not told others yet.
    is_news: bool,
    /// How often it was tried in vain.
    failures: u32,
}

impl Waiting {
    /// Another try was in vain: how long to rest before the next.
    pub(super) fn failed(&mut self) -> Duration {
        let doublings = self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        REST.saturating_mul(1 << doublings).min(REST_MAX)
    }

    /// Whether it was tried before, or comes from elsewhere, so that it may be done by now.
    pub(super) fn is_old(&self) -> bool {
        self.failures > 0 || !self.is_news
    }

    /// Whether others are to hear of it; once.
    pub(super) fn is_news(&mut self) -> bool {
        std::mem::take(&mut self.is_news)
    }

    pub(super) fn key(&self) -> (StreamNumber, String) {
        (self.stream, self.key.clone())
    }
}

/// The effects this node knows of.
#[derive(Default)]
pub(super) struct Lanes {
    waiting: HashMap<Lane, VecDeque<Waiting>>,
    /// Lanes with something to deliver, in the order they got it.
    due: VecDeque<Lane>,
    /// Lanes that are due, being delivered, or resting after a failure.
    active: HashSet<Lane>,
    delivering: usize,
    /// Every effect that is somewhere here, so that a sweep does not add it twice.
    known: HashSet<(StreamNumber, String)>,
}

impl Lanes {
    /// Takes in effects that are not known yet.
    pub(super) fn add(&mut self, rows: Vec<OutboxRow>, is_news: bool) {
        for row in rows {
            let waiting = Waiting {
                effect: Effect::from_payload(&row.effect),
                stream: row.stream,
                key: row.key,
                is_news,
                failures: 0,
            };
            if self.known.insert(waiting.key()) {
                self.wait(waiting);
            }
        }
    }

    /// An effect that is known gets its turn, behind what waits in its lane.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        let effect = waiting.effect.as_ref();
        let target = effect.map(|effect| effect.target().clone());
        let lane = (waiting.stream, target);
        self.waiting
            .entry(lane.clone())
            .or_default()
            .push_back(waiting);
        if self.active.insert(lane.clone()) {
            self.due.push_back(lane);
        }
    }

    /// A lane to deliver now, and what waits in it.
    pub(super) fn next(&mut self) -> Option<(Lane, VecDeque<Waiting>)> {
        if self.delivering >= LANES_AT_ONCE {
            return None;
        }
        let lane = self.due.pop_front()?;
        self.delivering += 1;
        let waiting = self.waiting.remove(&lane).unwrap_or_default();
        Some((lane, waiting))
    }

    /// A lane was delivered, up to these, which are tried again after a rest; whether it rests.
    pub(super) fn delivered(&mut self, lane: Lane, left: VecDeque<Waiting>) -> bool {
        self.delivering -= 1;
        let rests = !left.is_empty();
        let queue = self.waiting.entry(lane.clone()).or_default();
        for waiting in left.into_iter().rev() {
            queue.push_front(waiting);
        }
        if rests {
            return true;
        }
        if queue.is_empty() {
            self.waiting.remove(&lane);
            self.active.remove(&lane);
        } else {
            self.due.push_back(lane);
        }
        false
    }

    /// A lane has rested.
    pub(super) fn rested(&mut self, lane: Lane) {
        self.due.push_back(lane);
    }

    /// Effects that are gone from the store, or left to others.
    pub(super) fn forget(&mut self, keys: impl IntoIterator<Item = (StreamNumber, String)>) {
        for key in keys {
            self.known.remove(&key);
        }
    }

    /// Whether everything was tried.
    pub(super) fn is_quiet(&self) -> bool {
        self.due.is_empty() && self.delivering == 0
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::{Generation, Link, Name, Payload};

    use super::*;

    fn row(key: &str, to: &str) -> OutboxRow {
        let effect = Effect::SendEvent {
            to: RunId::new(to).unwrap(),
            event: Name::new("e").unwrap(),
            payload: Payload::null(),
            sender: Link {
                run: RunId::new("r").unwrap(),
                generation: Generation::FIRST,
                location: "__sent:0".parse().unwrap(),
                identity: None,
            },
        };
        OutboxRow {
            stream: StreamNumber(1),
            key: key.to_owned(),
            effect: effect.to_payload().unwrap(),
        }
    }

    fn keys(waiting: &VecDeque<Waiting>) -> Vec<&str> {
        waiting.iter().map(|w| w.key.as_str()).collect()
    }

    #[test]
    fn effects_on_one_run_keep_their_order_even_after_a_failure() {
        let mut lanes = Lanes::default();
        lanes.add(vec![row("1", "a"), row("2", "b"), row("3", "a")], true);
        let (a, waiting) = lanes.next().unwrap();
        assert_eq!(keys(&waiting), ["1", "3"]);
        lanes.add(vec![row("4", "a")], true);
        let (b, other) = lanes.next().unwrap();
        assert_eq!(keys(&other), ["2"]);
        assert!(lanes.next().is_none(), "a lane is delivered once at a time");
        assert!(lanes.delivered(a.clone(), waiting));
        assert!(!lanes.delivered(b, VecDeque::new()));
        assert!(lanes.is_quiet(), "a lane that rests holds up nobody");
        lanes.rested(a);
        let (_, waiting) = lanes.next().unwrap();
        assert_eq!(keys(&waiting), ["1", "3", "4"]);
    }

    #[test]
    fn what_is_known_is_not_added_again() {
        let mut lanes = Lanes::default();
        lanes.add(vec![row("1", "a")], true);
        let (lane, waiting) = lanes.next().unwrap();
        lanes.add(vec![row("1", "a")], false);
        assert!(!lanes.delivered(lane, VecDeque::new()));
        assert!(lanes.is_quiet());
        lanes.forget(waiting.iter().map(Waiting::key));
        lanes.add(vec![row("1", "a")], false);
        assert!(!lanes.is_quiet());
    }

    #[test]
    fn many_lanes_are_delivered_a_few_at_a_time() {
        let mut lanes = Lanes::default();
        let rows = (0..1_000).map(|n| row(&n.to_string(), &format!("r{n}")));
        lanes.add(rows.collect(), true);
        let mut taken = Vec::new();
        while let Some((lane, _)) = lanes.next() {
            taken.push(lane);
        }
        assert_eq!(taken.len(), LANES_AT_ONCE);
        lanes.delivered(taken.remove(0), VecDeque::new());
        assert!(lanes.next().is_some());
    }
}
