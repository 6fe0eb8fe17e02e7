//! A dry execution: the code runs against a journal, no step begins and nothing is written.

use everstep_machine::{Access, Divergence, Halt, Turn};
use everstep_model::{Entry, Timestamp};

use crate::action::Action;
use crate::execution::{Execution, Host};
use crate::returned::{Returned, Verified};
use crate::setup::Setup;

#[derive(Debug)]
pub(crate) struct Dry<H> {
    pub(crate) execution: Execution<H>,
    /// The time of the journal's last record.
    now: Timestamp,
    code: DryCode,
}

#[derive(Debug)]
enum DryCode {
    NotStarted,
    Running,
    /// The code continues although its run was cancelled.
    IgnoresCancellation,
    Returned(Returned),
}

pub(crate) enum Next {
    Act(Action),
    Done(Result<Verified, Halt>),
}

impl<H: Host> Dry<H> {
    pub(crate) fn new(setup: &Setup, journal: Vec<Entry>) -> Self {
        let last = journal.last();
        Self {
            now: last.map(|entry| entry.record.time).unwrap_or_default(),
            execution: Execution::dry(setup, journal),
            code: DryCode::NotStarted,
        }
    }

    pub(crate) fn next(&mut self) -> Next {
        if let DryCode::IgnoresCancellation = self.code {
            return self.done();
        }
        let replay = &mut self.execution.replay;
        match replay.turn(self.now) {
            Turn::Start => {
                self.code = DryCode::Running;
                Next::Act(Action::Start(self.execution.input()))
            }
            Turn::Resolved(op, resolution) => Next::Act(Action::Resolve(op, resolution)),
            Turn::Idle | Turn::Broken(_) | Turn::Ended(_) | Turn::Pausing | Turn::Paused => {
                self.done()
            }
            Turn::Halted(halt) => Next::Done(Err(halt)),
        }
    }

    pub(crate) fn settled(&mut self) {
        self.execution.forget_dropped();
        let is_running = matches!(self.code, DryCode::Running);
        if is_running && self.execution.replay.status().ignores_cancellation() {
            self.code = DryCode::IgnoresCancellation;
        }
    }

    pub(crate) fn returned(&mut self, returned: Returned) {
        self.execution.replay.returned(returned.error());
        self.code = DryCode::Returned(returned);
    }

    fn done(&mut self) -> Next {
        let unrecorded = self.unrecorded();
        self.execution.replay.set_access(Access::Detached);
        let returned = match std::mem::replace(&mut self.code, DryCode::NotStarted) {
            DryCode::Returned(returned) => Some(returned),
            DryCode::NotStarted | DryCode::Running | DryCode::IgnoresCancellation => None,
        };
        Next::Done(Ok(Verified {
            returned,
            unrecorded,
        }))
    }

    fn unrecorded(&mut self) -> Option<Divergence> {
        let replay = &mut self.execution.replay;
        let body = replay.outgoing().take_records().0.next()?;
        let location = body.location()?.clone();
        Some(Divergence {
            called: Some((body.type_name(), location)),
            called_site: replay.script().unrecorded_site(0),
            ..Divergence::default()
        })
    }
}
