//! The executor's fold: drives workflow code through its journal, record by record, hot and cold alike.
//!
//! The executor feeds records in with [`Replay::extend`] and asks [`Replay::turn`] what to do: start the code, resolve
//! one operation and poll once, or wait for more. While it is polled, the code calls operations (`call.rs`); what they
//! say becomes the script (`script.rs`), written when it is new and compared when it is not. Because own records are
//! folded from the journal like everybody else's, a run that stayed in memory and one rebuilt from its journal cannot
//! tell the difference.

mod branches;
mod call;
mod children;
mod control;
mod divergence;
mod ephemeral;
mod facts;
mod fold;
mod given;
mod mailbox;
mod memo;
mod operation;
mod removed;
mod repeat;
mod resting;
mod rollback;
mod rows;
mod scopes;
mod script;
mod sites;
mod step;
mod writing;

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};

use everstep_model::record::CancelRequested;
use everstep_model::{
    Body, Entry, Failure, Generation, Interner, Origin, RecordNumber, RunId, RunStatus, Timestamp,
};

use crate::moment::Moment;

pub use call::WaitFor;
pub use children::{ChildCall, LeftChild};
pub use divergence::{CallSite, Divergence, Halt};
pub use facts::RunFacts;
pub use operation::{ChildEnd, EventTaken, Obsolete, OpId, Resolution, StepFailure};
pub use removed::{PassRemoved, RemovedKind};
pub use repeat::{Advance, Returned};
pub use rollback::{UndoStart, UndoState};
pub use step::StepStart;

use control::Pause;
use ephemeral::Early;
use mailbox::Mailbox;
use memo::Memo;
use operation::Operations;
use removed::RemovedPlaces;
use repeat::Loops;
use rollback::Rollback;
use scopes::Scopes;
use script::Script;

/// What the executor does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Begin the workflow function anew and poll it once.
    Start,
    /// Hand this to the operation and poll once.
    Resolved(OpId, Resolution),
    /// Everything known is folded: run steps, write what is outgoing, suspend, or wait for more.
    Idle,
    /// The run's deadline passed, or an operator made it fail: drop the code and end it.
    Broken(Box<Failure>),
    /// The run is over.
    Ended(RunStatus),
    /// Somebody asked the run to pause: let the steps in flight end, and say that it rests.
    Pausing,
    /// The run is paused: leave it alone.
    Paused,
    /// It cannot go on here.
    Halted(Halt),
}

/// Where the execution as a whole stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is folded yet.
    New,
    /// The code runs, or waits for an operation.
    Running,
    /// The function failed and begins again when its timer fires.
    Backoff,
    /// The function has returned.
    Returned,
    /// Over.
    Ended(RunStatus),
    /// The deadline passed, or an operator made the run fail.
    Broken(Box<Failure>),
}

/// One execution of a run. See the module.
#[derive(Debug)]
pub struct Replay {
    id: RunId,
    generation: Generation,
    facts: Option<RunFacts>,
    phase: Phase,
    /// When the function begins again, while its timer is set.
    backoff_until: Option<Timestamp>,
    pause: Pause,
    cancel: Option<CancelRequested>,
    /// How many operations were refused because of the cancellation.
    refusals: u32,
    halted: Option<Halt>,
    /// Which pass of the function this is, from 1.
    pass: u32,

    unfolded: VecDeque<Entry>,
    /// Where the fold stands.
    here: Moment,
    /// Everything before this was handed in.
    known: RecordNumber,
    /// How many of the records handed in are inbox records.
    inbox_known: u64,
    /// Time as the code sees it: of the last folded record, never going back.
    now: Timestamp,
    /// Time as the executor sees it, for new deadlines.
    wall: Timestamp,

    operations: Operations,
    scopes: Scopes,
    loops: Loops,
    removed: RemovedPlaces,
    mailbox: Mailbox,
    script: Script,
    memo: Memo,
    rollback: Rollback,
    names: Interner,
    /// Events that this pass of the function answered.
    replied: HashSet<RecordNumber>,

    /// Resolutions that wait for a poll of their own.
    pending: VecDeque<(OpId, Resolution)>,
    /// Results that took effect before they were durable, and where.
    early: VecDeque<Early>,
    /// Which poll of the code this is, or was last.
    poll: u64,
    /// Whether the code may call operations: only in a poll that resolved something.
    calls_allowed: bool,
    /// Whether the executor is throwing the code away, so that dropped operations say nothing.
    detached: bool,

    /// The divergence this run is parked with, if the journal ends with one.
    parked: Option<Failure>,
    /// Whether no step begins any more: the execution only looks, or comes to its end.
    dry: bool,
    /// Whether no step begins any more because the executor comes to its end.
    winding_down: bool,
    /// Whether every attempt's start is durable before it begins, because the run may be what ends processes.
    cautious: bool,
    /// Rows of dropped operations, to be deleted with the next commit.
    obsolete: Vec<Obsolete>,
    /// Children the code no longer waits for, to be told with the next commit.
    left: Vec<LeftChild>,
    outgoing: Vec<Body>,
    /// Whether something outgoing must be durable before the code goes on.
    strict: bool,
}

impl Replay {
    /// The execution of a run from its whole journal.
    #[must_use]
    pub fn new(id: RunId, generation: Generation, journal: Vec<Entry>) -> Self {
        let mut replay = Self {
            id,
            generation,
            facts: None,
            phase: Phase::New,
            pause: Pause::No,
            cancel: None,
            refusals: 0,
            halted: None,
            pass: 1,
            unfolded: VecDeque::new(),
            here: Moment::default(),
            known: RecordNumber(0),
            inbox_known: 0,
            now: Timestamp::default(),
            wall: Timestamp::default(),
            operations: Operations::default(),
            scopes: Scopes::default(),
            loops: Loops::default(),
            removed: RemovedPlaces::default(),
            mailbox: Mailbox::default(),
            script: Script::default(),
            memo: Memo::default(),
            rollback: Rollback::default(),
            names: Interner::default(),
            replied: HashSet::new(),
            pending: VecDeque::new(),
            early: VecDeque::new(),
            poll: 0,
            calls_allowed: false,
            detached: false,
            parked: None,
            dry: false,
            winding_down: false,
            backoff_until: None,
            cautious: false,
            obsolete: Vec::new(),
            left: Vec::new(),
            outgoing: Vec::new(),
            strict: false,
        };
        let journal = replay.foresee(journal);
        let rest = replay.learn_earlier_passes(journal);
        for entry in &rest {
            replay.notice(entry);
        }
        // A journal may be long, so it is not copied.
        replay.unfolded = rest.into();
        replay
    }

    /// Hands in records of the journal, in order; ones that were handed in before are ignored.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            if entry.number >= self.known {
                self.notice(&entry);
                self.unfolded.push_back(entry);
            }
        }
    }

    /// Takes notice of a record that will be folded.
    fn notice(&mut self, entry: &Entry) {
        self.note_known(entry);
        self.note_parking(&entry.record.body);
        self.note_early(&entry.record.body);
        if entry.record.body.is_scripted()
            && let Err(divergence) = self.script.record(entry)
        {
            self.halt(Halt::Diverged(divergence));
        }
    }

    /// What to do next. Resolves at most one operation; `wall` is the executor's clock.
    pub fn turn(&mut self, wall: Timestamp) -> Turn {
        self.wall = wall;
        self.calls_allowed = false;
        loop {
            if let Some(halt) = &self.halted {
                return Turn::Halted(halt.clone());
            }
            if let Some((op, resolution)) = self.jump().or_else(|| self.pass_removed()) {
                return self.polled(Turn::Resolved(op, resolution));
            }
            while let Some((op, resolution)) = self.pending.pop_front() {
                // A dropped operation resolves nothing any more.
                if let Some(closed) = self.operations.close(op) {
                    self.count_resolved(&closed.location, &resolution);
                    return self.polled(Turn::Resolved(op, resolution));
                }
            }
            if let Phase::Ended(status) = self.phase {
                return Turn::Ended(status);
            }
            // While paused, nothing is folded: what came meanwhile keeps its order and is seen on resuming.
            if self.pause != Pause::No {
                if !self.pause_ends_ahead() {
                    return if self.rests_ahead() {
                        Turn::Paused
                    } else {
                        Turn::Pausing
                    };
                }
                self.pause = Pause::No;
            }
            if let Phase::Broken(failure) = &self.phase {
                // What came after is folded first: results that arrived late are undone too.
                if self.unfolded.is_empty() {
                    return Turn::Broken(failure.clone());
                }
            } else if let Some((op, events)) = self.mailbox.next_match() {
                self.give(op, events);
                continue;
            }
            if self.apply_early() || self.cross_to_effect() {
                continue;
            }
            if let Some((op, resolution)) = self.pass_overtaken() {
                return self.polled(Turn::Resolved(op, resolution));
            }
            let Some(entry) = self.unfolded.pop_front() else {
                self.end_cancelled_steps();
                self.end_removed();
                return Turn::Idle;
            };
            if self.fold(entry) {
                return self.polled(Turn::Start);
            }
        }
    }

    /// Sets the executor's clock for the next poll, if it has changed since the last turn.
    pub fn set_wall(&mut self, wall: Timestamp) {
        self.wall = wall;
    }

    /// The code is polled next.
    fn polled(&mut self, turn: Turn) -> Turn {
        self.calls_allowed = true;
        self.poll += 1;
        turn
    }

    /// What the run was created with; none before `created` is folded.
    #[must_use]
    pub fn facts(&self) -> Option<&RunFacts> {
        self.facts.as_ref()
    }

    /// Time as the code sees it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// How many records are known here: the place from which to read on.
    #[must_use]
    pub fn known(&self) -> RecordNumber {
        self.known
    }

    /// How many inbox records are known here: what a suspension or an end has seen. An execution decides only after it
    /// has folded all it knows, or when nothing it could fold would change the decision.
    #[must_use]
    pub fn inbox_known(&self) -> u64 {
        self.inbox_known
    }

    /// Which pass of the function this is, from 1.
    #[must_use]
    pub fn pass(&self) -> u32 {
        self.pass
    }

    /// Takes the records to write, and whether they must be written now.
    pub fn take_outgoing(&mut self) -> (impl ExactSizeIterator<Item = Body>, bool) {
        let strict = std::mem::take(&mut self.strict);
        (self.outgoing.drain(..), strict)
    }

    /// An execution that only looks: no step ever begins.
    #[must_use]
    pub fn dry(mut self) -> Self {
        self.dry = true;
        self
    }

    /// From now on no attempt of a step begins; those under way may end.
    pub fn begin_no_more(&mut self) {
        self.winding_down = true;
    }

    /// Whether starts of attempts are durable before they begin, as for fenced steps. A run whose executor died is
    /// treated so until it makes progress: if it is what ends processes, the journal shows it.
    pub fn set_cautious(&mut self, cautious: bool) {
        self.cautious = cautious;
    }

    /// Why the run cannot go on here, if it cannot.
    #[must_use]
    pub fn halted(&self) -> Option<&Halt> {
        self.halted.as_ref()
    }

    /// The divergence this run is parked with, if the journal ends with one.
    #[must_use]
    pub fn parked(&self) -> Option<&Failure> {
        self.parked.as_ref()
    }

    /// Whether anything waits to be written, or what is written already must be durable now.
    #[must_use]
    pub fn has_outgoing(&self) -> bool {
        self.strict || !self.outgoing.is_empty()
    }

    /// The function returned, or panicked: whatever it left unrecorded in the journal is a divergence.
    pub fn returned(&mut self, error: Option<&str>) {
        if self.phase == Phase::Running {
            self.phase = Phase::Returned;
        }
        self.forbid_outside_resolutions("the code returned");
        // Only records that are known to this execution count: it returned on what it had seen.
        if let Err(mut divergence) = self.script.end() {
            divergence.detail = error.map(|error| format!("it failed before: {error}"));
            self.halt(Halt::Diverged(divergence));
        }
    }

    /// The executor throws the code away (eviction, takeover, shutdown): dropped operations are not abandoned ones.
    pub fn detach(&mut self) {
        self.detached = true;
    }

    /// Halts the run because its code used something that is not durable. Code that has ended cannot
    /// halt the run any more.
    pub fn halt_not_durable(&mut self, why: String) {
        if self.phase == Phase::Running {
            self.halt(Halt::NotDurable(why));
        }
    }

    fn halt(&mut self, halt: Halt) {
        self.halted.get_or_insert(halt);
    }

    /// Whether everything handed in is folded and resolved, so that new work may begin.
    fn at_frontier(&self) -> bool {
        self.unfolded.is_empty() && self.is_settled() && self.halted.is_none()
    }

    /// Whether nothing waits for a poll of its own.
    fn is_settled(&self) -> bool {
        self.pending.is_empty() && !self.mailbox.has_matches() && !self.has_early()
    }

    /// Whether the journal ends with a divergence is known as soon as it is handed in: code that diverges at its first
    /// call never folds so far.
    fn note_parking(&mut self, body: &Body) {
        match body {
            Body::Diverged(record) => self.parked = Some(record.error.clone()),
            body if body.origin() == Origin::Executor => self.parked = None,
            _ => {}
        }
    }

    /// What the code does must follow from the journal; in a poll that resolved nothing it may do nothing.
    pub(super) fn forbid_outside_resolutions(&mut self, what: &str) {
        if !self.calls_allowed && !self.detached && self.phase != Phase::New {
            self.halt(Halt::NotDurable(format!(
                "{what} after something that is not in the journal woke it; put timers, channels and I/O inside a step, and \
                 use the timeouts that ctx offers"
            )));
        }
    }

    fn note_known(&mut self, entry: &Entry) {
        self.known = entry.number.plus(1);
        if entry.record.body.origin() == Origin::Inbox {
            self.inbox_known += 1;
        }
    }

    fn count_folded(&mut self, entry: &Entry) {
        self.here = Moment {
            folded: entry.number.plus(1),
            number: 0,
        };
        self.now = self.now.max(entry.record.time);
        self.loops.resolved.clear();
        let askers = self.rollback_askers();
        self.loops.kept.note(entry, &askers);
    }
}
