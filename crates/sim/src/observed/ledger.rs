//! The side effects of workflows and the requests of clients, as their code reports them. The
//! checks compare them with the journals.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{StreamNumber, Timestamp};

use crate::program::Op;

/// An attempt of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub run: String,
    pub generation: u32,
    /// The stream of the generation, if the process held it. The id of a removed run can be used
    /// again.
    pub stream: Option<StreamNumber>,
    /// The location in its program.
    pub location: String,
    pub key: String,
}

/// The outcome of a request, as far as the client received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// Acknowledged, with the record number if the answer had one.
    Acked(u64),
    Refused(String),
    /// The client received no answer.
    Unknown,
}

/// An event that a client sent, possibly several times under one dedup id.
#[derive(Clone, Debug)]
pub struct SendTry {
    /// The receiver.
    pub run: String,
    /// The payload.
    pub token: u64,
    pub dedup: Option<String>,
    /// The sender. The events of one sender are in the order of `Ledger::sends`.
    pub client: usize,
    pub outcome: SendOutcome,
}

/// A request to delete a run, with times of the true clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    pub run: String,
    pub requested_at: Timestamp,
    /// None if the client received no answer.
    pub answered_at: Option<Timestamp>,
}

/// All side effects and requests.
#[derive(Debug, Default)]
pub struct Ledger {
    pub attempts: Vec<Attempt>,
    /// The number of attempts at each location.
    pub counts: BTreeMap<(String, u32, String), u32>,
    /// The undone effects, in order.
    pub undone: Vec<(String, u32, String)>,
    /// Acknowledged starts: the run, and whether this request created it.
    pub starts: Vec<(String, bool)>,
    /// The programs that each run may have been started with.
    pub programs: BTreeMap<String, Vec<Vec<Op>>>,
    /// The runs that each idempotency key led to, in all answers.
    pub keys: BTreeMap<String, BTreeSet<String>>,
    pub sends: Vec<SendTry>,
    /// The payloads of all answers to rpcs.
    pub answers: BTreeSet<u64>,
    /// The control requests to each run, including those without an answer.
    pub controls: BTreeMap<String, BTreeSet<&'static str>>,
    pub deletions: Vec<Deletion>,
    /// The results that waiting clients received.
    pub received: Vec<(String, Result<String, String>)>,
    /// The number of calls of each operation.
    pub called: BTreeMap<&'static str, u64>,
    /// The number of requests of each kind.
    pub requests: BTreeMap<&'static str, u64>,
    /// The number of acknowledged requests.
    pub answered: u64,
}

impl Ledger {
    pub fn record_call(&mut self, primitive: &'static str) {
        *self.called.entry(primitive).or_default() += 1;
    }

    /// Records an attempt, and returns the number of attempts at its location.
    pub fn record_attempt(&mut self, attempt: Attempt) -> u32 {
        let location = (
            attempt.run.clone(),
            attempt.generation,
            attempt.location.clone(),
        );
        self.attempts.push(attempt);
        let count = self.counts.entry(location).or_default();
        *count += 1;
        *count
    }

    /// Records an undo. The first one fails at every fourth location, so that undos are retried.
    pub fn record_undo(&mut self, run: &str, generation: u32, value: &str) -> bool {
        let location = (run.to_owned(), generation, format!("undo {value}"));
        let count = self.counts.entry(location).or_default();
        *count += 1;
        if value.len().is_multiple_of(4) && *count == 1 {
            return false;
        }
        self.undone
            .push((run.to_owned(), generation, value.to_owned()));
        true
    }

    pub fn count_request(&mut self, name: &'static str) {
        *self.requests.entry(name).or_default() += 1;
    }

    /// Records a control request.
    pub fn record_control(&mut self, run: &str, verb: &'static str) {
        let controls = self.controls.entry(run.to_owned()).or_default();
        controls.insert(verb);
        self.count_request(verb);
    }

    /// Whether the run received one of these control requests.
    #[must_use]
    pub fn has_control(&self, run: &str, verbs: &[&str]) -> bool {
        let controls = self.controls.get(run);
        controls.is_some_and(|controls| verbs.iter().any(|verb| controls.contains(verb)))
    }

    /// Returns the number of operations and requests.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.called.values().chain(self.requests.values()).sum()
    }
}
