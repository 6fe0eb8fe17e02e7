//! One execution of a run: the composition of its parts.

use everstep_model::{Entry, Generation, Interner, RunId, Timestamp};

use super::attempts::Attempts;
use super::code::Code;
use super::context::Context;
use super::divergence::Halt;
use super::early_results::EarlyResults;
use super::loops::Loops;
use super::mailbox::Mailbox;
use super::outgoing::Outgoing;
use super::position::Position;
use super::removals::Removals;
use super::replies::Replies;
use super::rollback::Rollback;
use super::run::Run;
use super::scopes::Scopes;
use super::script::Script;
use super::status::Status;

/// One execution of a run. See the module.
#[derive(Debug)]
pub struct Replay {
    pub(super) context: Context,
    pub(super) code: Code,
    pub(super) attempts: Attempts,
    pub(super) names: Interner,
    pub(super) scopes: Scopes,
    pub(super) early: EarlyResults,
    pub(super) mailbox: Mailbox,
    pub(super) replies: Replies,
    pub(super) loops: Loops,
    pub(super) removals: Removals,
    pub(super) rollback: Rollback,
}

impl Replay {
    /// An execution of a run from its whole journal.
    #[must_use]
    pub fn new(id: RunId, generation: Generation, journal: Vec<Entry>) -> Self {
        let mut replay = Self {
            context: Context::new(id, generation),
            code: Code::default(),
            attempts: Attempts::default(),
            names: Interner::default(),
            scopes: Scopes::default(),
            early: EarlyResults::default(),
            mailbox: Mailbox::default(),
            replies: Replies::default(),
            loops: Loops::default(),
            removals: Removals::default(),
            rollback: Rollback::default(),
        };
        let journal = replay.loops.foresee(journal);
        replay.context.position.inbox_known = replay.loops.iterations.inbox_dropped();
        let current = replay.fold_earlier_passes(journal);
        for entry in &current {
            replay.notice(entry);
        }
        // A journal may be long, so it is not copied.
        replay.context.position.unfolded = current.into();
        replay
    }

    /// Makes the execution dry: no attempt ever begins.
    #[must_use]
    pub fn dry(mut self) -> Self {
        self.attempts = Attempts::Never;
        self
    }

    /// Prevents further attempts. Attempts in flight may end.
    pub fn begin_no_more(&mut self) {
        if self.attempts.may_begin() {
            self.attempts = Attempts::Ending;
        }
    }

    /// Sets whether the start of each attempt is durable before it begins, as for fenced steps. A run
    /// whose executor died is treated so until it makes progress.
    pub fn set_cautious(&mut self, cautious: bool) {
        if self.attempts.may_begin() {
            self.attempts = match cautious {
                true => Attempts::Announced,
                false => Attempts::AtOnce,
            };
        }
    }

    /// Keeps the call sites of recorded operations, for reports of nondeterminism.
    pub fn keep_call_sites(&mut self) {
        self.context.script.keep_sites();
    }

    /// Adds records of the journal, in order. Records that are known already are ignored.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            if entry.number >= self.context.position.known {
                self.notice(&entry);
                self.context.position.unfolded.push_back(entry);
            }
        }
    }

    /// Takes notice of a record before it is folded.
    fn notice(&mut self, entry: &Entry) {
        let context = &mut self.context;
        let body = &entry.record.body;
        context.position.note_known(entry);
        context.state.note_parking(body);
        self.early.note_record(body);
        if body.is_scripted()
            && let Err(divergence) = context.script.record(entry)
        {
            context.state.halt(Halt::Diverged(divergence));
        }
    }

    /// Sets the executor's clock for the next poll, if it has changed since the last turn.
    pub fn set_wall(&mut self, wall: Timestamp) {
        self.context.position.wall = wall;
    }

    /// The run and its current pass.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.context.run
    }

    /// The position of the fold.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.context.position
    }

    /// The script, for the call sites of its lines.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.context.script
    }

    /// What the next commit contains.
    pub fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.context.outgoing
    }

    /// The rollbacks of the execution.
    #[must_use]
    pub fn rollback(&self) -> &Rollback {
        &self.rollback
    }

    /// The rollbacks of the execution.
    pub fn rollback_mut(&mut self) -> &mut Rollback {
        &mut self.rollback
    }

    /// What the execution is waiting for, and what it would leave behind.
    #[must_use]
    pub fn status(&self) -> Status<'_> {
        Status {
            context: &self.context,
            early: &self.early,
            mailbox: &self.mailbox,
            loops: &self.loops,
            rollback: &self.rollback,
        }
    }

    /// Whether iterations were dropped from the journal since the last call.
    pub fn take_has_dropped(&mut self) -> bool {
        self.loops.take_has_dropped()
    }
}
