//! The executor of one run: a task that folds the journal, polls the code, and writes what follows.
//!
//! It is one future. Each time it is woken it takes in messages (`intake.rs`, `feed.rs`), lets the machine take its turns and
//! steps go on (`turns.rs`), sees whether anything is left to do (`done.rs`), and writes what follows (`writing.rs`): results
//! at once, the rest with them or a few milliseconds later, and a guarded suspension when nothing is left.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_engine::Activation;
use everstep_machine::{OpId, Replay};
use everstep_model::{Entry, Failure, Payload, Record, Timestamp};
use everstep_store::{BoxFuture, StoreError};

use super::conclusion::Conclusion;
use super::rollback::Undoing;
use super::root::RunningRoot;
use super::shared::{Shared, SharedParts};
use super::writing::InFlight;
use crate::definition::Definition;
use crate::error::Result;

/// Whether the executor's task goes on.
#[derive(PartialEq)]
pub(super) enum Next {
    GoOn,
    Exit,
}

/// Where an executor stands with its run.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Standing {
    /// It has the run and goes on with it.
    Working,
    /// It has suspended the run and keeps it in memory.
    Suspended,
    /// It has the run again and has not read yet what others did with it meanwhile.
    CatchingUp,
}

/// Whether an executor is to let go of its run; the later ones outdo the earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leave {
    Not,
    /// Its memory is wanted: when the run is suspended, which it may not be yet.
    WhenSuspended,
    /// The engine shuts down: when the steps under way have ended.
    Soon,
}

pub(crate) struct Executor {
    pub(super) activation: Activation,
    pub(super) definition: Arc<Definition>,
    pub(super) shared: Arc<Shared>,
    pub(super) root: Option<RunningRoot>,
    pub(super) returned: Option<Result<Payload>>,
    /// Why the run fails, whatever its code does.
    pub(super) broken: Option<Failure>,
    pub(super) undoing: Undoing,
    pub(super) conclusion: Option<Conclusion>,
    /// Records that happened and are not sent yet.
    pub(super) unsent: Vec<Record>,
    /// Whether the unsent records must be durable before the code goes on.
    pub(super) strict: bool,
    pub(super) in_flight: Option<InFlight>,
    pub(super) flush: Option<BoxFuture<'static, ()>>,
    pub(super) reading: Option<BoxFuture<'static, Result<Vec<Entry>, StoreError>>>,
    pub(super) read_again: bool,
    /// Steps that were told they may begin. Code that does not poll one is not told again and again.
    pub(super) offered: Vec<OpId>,
    pub(super) standing: Standing,
    pub(super) leave: Leave,
    /// The clock as it was when the executor was woken, or when it last polled the code.
    pub(super) now: Timestamp,
    /// Everything folded, kept in development mode for the second look.
    pub(super) history: Option<Vec<Entry>>,
}

impl Executor {
    pub(crate) fn new(
        mut activation: Activation,
        definition: Arc<Definition>,
        parts: SharedParts,
    ) -> Self {
        let journal = std::mem::take(&mut activation.journal);
        let development = activation.settings().development;
        let history = development.then(|| journal.clone());
        let mut replay = Replay::new(parts.run.clone(), parts.generation, journal);
        if development {
            replay.keep_call_sites();
        }
        replay.set_cautious(activation.cautious);
        Self {
            activation,
            definition,
            shared: Shared::new(parts, replay),
            root: None,
            returned: None,
            broken: None,
            undoing: Undoing::default(),
            conclusion: None,
            unsent: Vec::new(),
            strict: false,
            in_flight: None,
            flush: None,
            reading: None,
            read_again: false,
            offered: Vec::new(),
            standing: Standing::Working,
            leave: Leave::Not,
            now: Timestamp::default(),
            history,
        }
    }

    /// Takes in everything that came, then does everything that follows from it: whatever is left wakes the task again.
    fn poll_once(&mut self, context: &mut Context<'_>) -> Next {
        while let Poll::Ready(message) = self.activation.poll_message(context) {
            if self.take_in(message) == Next::Exit {
                return Next::Exit;
            }
        }
        while let Poll::Ready(next) = self.poll_reading(context) {
            if next == Next::Exit {
                return Next::Exit;
            }
        }
        if self.leave == Leave::Soon {
            self.shared.state().replay.begin_no_more();
        }
        // A step that others have done in between is not begun again.
        if self.standing != Standing::Working || self.concluded_and_waiting() {
            return Next::GoOn;
        }
        if self.go_on() == Next::Exit {
            return Next::Exit;
        }
        self.work_on_undos(context);
        self.decide(context);
        Next::GoOn
    }

    fn concluded_and_waiting(&self) -> bool {
        self.conclusion.is_some() && self.in_flight.is_some()
    }
}

impl Future for Executor {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(root) = &self.root {
            root.attend();
        }
        match self.poll_once(context) {
            Next::GoOn => {
                if let Some(root) = &self.root {
                    root.leave(context);
                }
                Poll::Pending
            }
            Next::Exit => {
                self.drop_code();
                self.shared.forget_undos();
                Poll::Ready(())
            }
        }
    }
}
