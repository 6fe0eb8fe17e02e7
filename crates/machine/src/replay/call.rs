//! What workflow code can call and wait for. Each call fixes the operation's place and says it to the script.

use std::time::Duration;

use everstep_model::record::{RpcRequested, Sleeping, StepStarted, Waiting};
use everstep_model::{
    Body, InvalidName, Location, Name, Payload, RpcId, Scope, StepOptions, Timestamp,
};

use super::divergence::{CallSite, Divergence, Halt};
use super::mailbox::Wanted;
use super::memo::Remembered;
use super::operation::{Kind, OpId, Resolution, StepOp, StepPhase};
use super::{Phase, Replay};
use crate::undo::Subject;

/// Which events a wait takes.
#[derive(Clone, Debug)]
pub struct WaitFor {
    /// An event of any of these names.
    pub names: Vec<Name>,
    /// At most so many at once.
    pub batch: u32,
    /// Whether it gives up at once if none is there.
    pub at_once: bool,
}

impl Replay {
    /// Calls a step.
    pub fn call_step(
        &mut self,
        scope: &Scope,
        name: &Name,
        options: StepOptions,
        site: CallSite,
    ) -> Option<OpId> {
        let location = self.call(scope, name, "step_started", site)?;
        self.scopes.count_step(scope);
        let mut highest = 0;
        match self.memo.take(&location) {
            Some(Remembered::Resolved("step_started", resolution)) => {
                self.rollback.log.reach(&Subject::step(&location));
                let step = new_step(options, 0, false);
                return Some(self.open_resolved(location, Kind::Step(step), resolution));
            }
            Some(Remembered::Attempted(attempts)) => highest = attempts,
            Some(other) => return self.halt_on_memory(&location, "step_started", &other, site),
            None if self.cancel.is_some() => return Some(self.open_refused(location)),
            None => {}
        }
        let said = StepStarted {
            location: location.clone(),
            attempt: highest + 1,
            options: Some(options),
        };
        let is_new = self.script.next_expected().is_none();
        let Some(Body::StepStarted(recorded)) = self.say_at(said.into(), Some(site)) else {
            return None;
        };
        let options = recorded.options.unwrap_or(options);
        let step = new_step(options, recorded.attempt, is_new);
        Some(self.operations.open(location, Kind::Step(step)))
    }

    /// How many steps the code has called, without those in iterations that have ended.
    #[must_use]
    pub fn steps_called(&self) -> u64 {
        self.scopes.steps()
    }

    /// Calls a sleep of some length.
    pub fn call_sleep(
        &mut self,
        scope: &Scope,
        name: &Name,
        duration: Duration,
        site: CallSite,
    ) -> Option<OpId> {
        let until = self.wall.max(self.now).after(duration);
        self.call_sleep_until(scope, name, until, site)
    }

    /// Calls a sleep until some time.
    pub fn call_sleep_until(
        &mut self,
        scope: &Scope,
        name: &Name,
        mut until: Timestamp,
        site: CallSite,
    ) -> Option<OpId> {
        let location = self.call(scope, name, "sleeping", site)?;
        match self.memo.take(&location) {
            Some(Remembered::Resolved("sleeping", resolution)) => {
                return Some(self.open_resolved(location, Kind::Sleep { until }, resolution));
            }
            // Said again: the timer of the earlier pass went with its function.
            Some(Remembered::Sleeping(remembered)) => until = remembered,
            Some(other) => return self.halt_on_memory(&location, "sleeping", &other, site),
            None if self.cancel.is_some() => return Some(self.open_refused(location)),
            None => {}
        }
        let said = Sleeping {
            location: location.clone(),
            until,
        };
        let Some(Body::Sleeping(recorded)) = self.say_at(said.into(), Some(site)) else {
            return None;
        };
        let until = recorded.until;
        Some(self.operations.open(location, Kind::Sleep { until }))
    }

    /// Waits for events. `place` is the name of the wait itself.
    pub fn call_wait(
        &mut self,
        scope: &Scope,
        place: &Name,
        events: WaitFor,
        timeout: Option<Duration>,
        site: CallSite,
    ) -> Option<OpId> {
        let location = self.call(scope, place, "waiting", site)?;
        let deadline = match self.memo.take(&location) {
            Some(Remembered::Resolved("waiting", resolution)) => {
                return Some(self.open_resolved(
                    location,
                    Kind::Wait { deadline: None },
                    resolution,
                ));
            }
            // Said again: the timer of the earlier pass went with its function.
            Some(Remembered::Waiting(remembered)) => remembered,
            Some(other) => return self.halt_on_memory(&location, "waiting", &other, site),
            None if self.cancel.is_some() => return Some(self.open_refused(location)),
            None => timeout.map(|timeout| self.wall.max(self.now).after(timeout)),
        };
        let wanted = Wanted {
            names: events.names,
            batch: usize::try_from(events.batch).unwrap_or(usize::MAX).max(1),
            at_once: events.at_once,
        };
        // A wait that does not wait is known by its outcome alone.
        let mut due = None;
        if !wanted.at_once {
            let said = Waiting {
                location: location.clone(),
                names: wanted.names.clone(),
                deadline,
                batch: events.batch,
            };
            let Some(Body::Waiting(recorded)) = self.say_at(said.into(), Some(site)) else {
                return None;
            };
            due = recorded.deadline;
        }
        let op = self.operations.open(location, Kind::Wait { deadline: due });
        self.mailbox.wait(op, wanted);
        Some(op)
    }

    /// Asks a question.
    #[allow(
        clippy::too_many_arguments,
        reason = "they are the fields of the record"
    )]
    pub fn call_rpc(
        &mut self,
        scope: &Scope,
        method: &Name,
        args: Payload,
        schema: Option<Payload>,
        timeout: Option<Duration>,
        site: CallSite,
    ) -> Option<OpId> {
        let location = self.call(scope, method, "rpc_requested", site)?;
        let mut deadline = timeout.map(|timeout| self.wall.max(self.now).after(timeout));
        match self.memo.take(&location) {
            Some(Remembered::Resolved("rpc_requested", resolution)) => {
                let kind = Kind::Rpc {
                    id: RpcId::of(&self.id, self.generation, &location),
                    deadline: None,
                };
                return Some(self.open_resolved(location, kind, resolution));
            }
            // Asked again, by the same id and to the same deadline: its rows went with the earlier pass.
            Some(Remembered::Asked(remembered)) => deadline = remembered,
            Some(other) => return self.halt_on_memory(&location, "rpc_requested", &other, site),
            None if self.cancel.is_some() => return Some(self.open_refused(location)),
            None => {}
        }
        let said = RpcRequested {
            location: location.clone(),
            rpc_id: RpcId::of(&self.id, self.generation, &location),
            method: method.clone(),
            args,
            deadline,
            schema,
        };
        let Some(Body::RpcRequested(recorded)) = self.say_at(said.into(), Some(site)) else {
            return None;
        };
        let kind = Kind::Rpc {
            id: recorded.rpc_id,
            deadline: recorded.deadline,
        };
        Some(self.operations.open(location, kind))
    }

    /// The shared copy of a user's name.
    pub fn name(&mut self, text: &str) -> Result<Name, InvalidName> {
        self.names.user(text)
    }

    pub(super) fn call(
        &mut self,
        scope: &Scope,
        name: &Name,
        kind: &'static str,
        site: CallSite,
    ) -> Option<Location> {
        let location = self.place(scope, name.clone());
        self.may_call(kind, &location, site).then_some(location)
    }

    /// Code may act only on what the journal made known to it; anything else would not happen again on replay.
    pub(super) fn may_call(
        &mut self,
        kind: &'static str,
        location: &Location,
        site: CallSite,
    ) -> bool {
        if self.halted.is_some() || self.phase != Phase::Running {
            return false;
        }
        if !self.calls_allowed {
            self.halt(Halt::NotDurable(format!(
                "the code called `{location}` ({kind}, at {site}) after something that is not in the journal woke it; \
                 put timers, channels and I/O inside a step, and do not call ctx from inside a step"
            )));
        }
        self.calls_allowed
    }

    /// While a step's own future is polled, the code around it may call nothing.
    pub fn suspend_calls(&mut self) -> bool {
        std::mem::replace(&mut self.calls_allowed, false)
    }

    /// Ends [`Self::suspend_calls`].
    pub fn restore_calls(&mut self, allowed: bool) {
        self.calls_allowed = allowed;
    }

    pub(super) fn open_resolved(
        &mut self,
        location: Location,
        kind: Kind,
        resolution: Resolution,
    ) -> OpId {
        let op = self.operations.open(location, kind);
        self.pending.push_back((op, resolution));
        op
    }

    pub(super) fn halt_on_memory(
        &mut self,
        location: &Location,
        called: &'static str,
        remembered: &Remembered,
        site: CallSite,
    ) -> Option<OpId> {
        let recorded = match remembered {
            Remembered::Resolved(kind, _) | Remembered::Written(kind) => kind,
            Remembered::Attempted(_) => "step_started",
            Remembered::Sleeping(_) => "sleeping",
            Remembered::Waiting(_) => "waiting",
            Remembered::Asked(_) => "rpc_requested",
            Remembered::Version(_) => "version_chosen",
            Remembered::Won(_) => "race_won",
            Remembered::Chosen(_) => "switch_chosen",
            Remembered::Child(_) => "child_started",
        };
        self.halt(Halt::Diverged(Box::new(Divergence {
            record: None,
            recorded: Some((recorded, location.clone())),
            recorded_site: None,
            called: Some((called, location.clone())),
            called_site: Some(site),
            detail: None,
        })));
        None
    }
}

fn new_step(options: StepOptions, highest: u32, fresh: bool) -> StepOp {
    StepOp {
        options,
        phase: StepPhase::Runnable,
        highest,
        fresh,
        failures: 0,
        announced: false,
    }
}
