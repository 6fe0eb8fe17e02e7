//! The ledger: what happened outside the engine, written down by those who did it. It is what the journals are compared
//! with.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{StreamNumber, Timestamp};

use crate::program::Op;

/// An attempt of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The run.
    pub run: String,
    /// Its life.
    pub generation: u32,
    /// The stream of that life, if it was held by whoever began the attempt. A run that was removed may have a namesake.
    pub stream: Option<StreamNumber>,
    /// The place in its program.
    pub place: String,
    /// The idempotency key it was given.
    pub key: String,
}

/// What a client knows about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was done; where, if that was said.
    Acked(u64),
    /// It was refused.
    Refused(String),
    /// Nobody knows.
    Unknown,
}

/// An event that a client sent, maybe several times under one dedup id.
#[derive(Clone, Debug)]
pub struct SendTry {
    /// To whom.
    pub run: String,
    /// What it says.
    pub token: u64,
    /// Its dedup id.
    pub dedup: Option<String>,
    /// Who sent it; events of one sender come in the order of `Ledger::sends`.
    pub client: usize,
    /// What became of it.
    pub fate: Fate,
}

/// A request to delete a run, by the clock that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The run.
    pub run: String,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// When it was answered; none if it never was, or nobody heard it.
    pub answered_at: Option<Timestamp>,
}

/// What happened outside.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Every attempt of every step.
    pub attempts: Vec<Attempt>,
    /// How many attempts there were at each place.
    pub counts: BTreeMap<(String, u32, String), u32>,
    /// What was undone, in order.
    pub undone: Vec<(String, u32, String)>,
    /// Starts that were answered: the run, and whether the answer says that it was created by this request.
    pub starts: Vec<(String, bool)>,
    /// The programs that runs may have been started with.
    pub programs: BTreeMap<String, Vec<Vec<Op>>>,
    /// The run that each idempotency key led to, by all answers.
    pub keys: BTreeMap<String, BTreeSet<String>>,
    /// Events that were sent.
    pub sends: Vec<SendTry>,
    /// Tokens that answers to questions carried.
    pub answers: BTreeSet<u64>,
    /// What was asked of each run by operators, whether or not they heard what became of it.
    pub asked: BTreeMap<String, BTreeSet<&'static str>>,
    /// Every request to delete a run.
    pub deletions: Vec<Deletion>,
    /// What waiters heard.
    pub heard: Vec<(String, Result<String, String>)>,
    /// How often each primitive was called.
    pub called: BTreeMap<&'static str, u64>,
    /// How often each kind of request was made.
    pub requests: BTreeMap<&'static str, u64>,
    /// How many requests were answered well.
    pub answered: u64,
}

impl Ledger {
    /// An operation was called.
    pub fn called(&mut self, primitive: &'static str) {
        *self.called.entry(primitive).or_default() += 1;
    }

    /// An attempt begins; gives how many there were.
    pub fn begins(&mut self, attempt: Attempt) -> u32 {
        let place = (
            attempt.run.clone(),
            attempt.generation,
            attempt.place.clone(),
        );
        self.attempts.push(attempt);
        let count = self.counts.entry(place).or_default();
        *count += 1;
        *count
    }

    /// Something is undone: fails the first time for every fourth place, so that undos are tried again.
    pub fn undoes(&mut self, run: &str, generation: u32, value: &str) -> bool {
        let place = (run.to_owned(), generation, format!("undo {value}"));
        let count = self.counts.entry(place).or_default();
        *count += 1;
        if value.len().is_multiple_of(4) && *count == 1 {
            return false;
        }
        self.undone
            .push((run.to_owned(), generation, value.to_owned()));
        true
    }

    /// Somebody asked something of a run.
    pub fn asked(&mut self, run: &str, verb: &'static str) {
        self.asked.entry(run.to_owned()).or_default().insert(verb);
        *self.requests.entry(verb).or_default() += 1;
    }

    /// Whether anything of this kind was asked of a run.
    #[must_use]
    pub fn was_asked(&self, run: &str, verbs: &[&str]) -> bool {
        let asked = self.asked.get(run);
        asked.is_some_and(|asked| verbs.iter().any(|verb| asked.contains(verb)))
    }

    /// Operations and requests together.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.called.values().chain(self.requests.values()).sum()
    }
}
