//! Adds records to the tree.

use everstep_model::record::{
    BranchesKind, BranchesStarted, ChildFinished, ChildOutcome, ChildStarted, ForcedFailure,
    LoopAdvanced, SwitchChosen, TimerFired, TimerPurpose, WaitCompleted,
};
use everstep_model::{Body, Location, Name};

use super::draft::Draft;
use super::node::{NodeKind, NodeStatus};

impl Draft {
    pub(super) fn add(&mut self, body: &Body) {
        match body {
            Body::StepStarted(_)
            | Body::StepCompleted(_)
            | Body::StepFailed(_)
            | Body::StepAbandoned(_)
            | Body::StepSkipped(_)
            | Body::StepEdited(_) => self.steps(body.location()),
            Body::ForcedFailure(r) => self.forced_failure(r),
            Body::UndoStarted(r) => self.undo(&r.location, NodeStatus::Running),
            Body::UndoCompleted(r) => self.undo(&r.location, NodeStatus::Undone),
            Body::UndoFailed(r) if r.retry_at.is_some() => {
                self.undo(&r.location, NodeStatus::Retrying);
            }
            Body::UndoFailed(r) => self.undo(&r.location, NodeStatus::Failed),
            Body::UndoSkipped(r) => self.undo(&r.location, NodeStatus::Skipped),
            Body::NoReturn(r) => self.momentary(&r.location, NodeKind::NoReturn),
            Body::Sleeping(r) => self.open(&r.location, NodeKind::Sleep),
            Body::TimerFired(r) => self.timer_fired(r),
            Body::Waiting(r) => {
                let names = r.names.clone();
                self.open(&r.location, NodeKind::Wait { names });
            }
            Body::WaitCompleted(r) => self.wait_completed(r),
            Body::WaitTimedOut(r) => self.end(&r.location, is_wait, NodeStatus::TimedOut),
            Body::RpcRequested(r) => {
                let method = r.method.clone();
                self.open(&r.location, NodeKind::Rpc { method });
            }
            Body::RpcAnswered(r) => self.end(&r.location, is_rpc, NodeStatus::Completed),
            Body::RpcCompleted(r) if r.timed_out => {
                self.end(&r.location, is_rpc, NodeStatus::TimedOut);
            }
            Body::RpcCompleted(r) => self.end(&r.location, is_rpc, NodeStatus::Completed),
            Body::BranchesStarted(r) => self.branches_started(r),
            Body::BranchCompleted(r) => {
                let branch = self.branch(&r.location, &r.branch);
                branch.set_outcome(NodeStatus::Completed);
            }
            Body::BranchFailed(r) => {
                let branch = self.branch(&r.location, &r.branch);
                branch.set_outcome(NodeStatus::Failed);
            }
            Body::RaceWon(r) => self.race_won(&r.location, &r.winner),
            Body::SwitchChosen(r) => self.switch_chosen(r),
            Body::LoopAdvanced(r) => self.loop_advanced(r),
            Body::ChildStarted(r) => self.child_started(r),
            Body::ChildFinished(r) => self.child_finished(r),
            Body::Sent(r) => {
                let (event, to) = (r.event.clone(), r.to.clone());
                self.momentary(&r.location, NodeKind::Send { event, to });
            }
            Body::Replied(r) => self.momentary(&r.location, NodeKind::Reply),
            Body::Completed(r) => self.steps(&r.abandoned),
            Body::Failed(r) => self.steps(&r.abandoned),
            Body::Cancelled(r) => self.steps(&r.abandoned),
            Body::Terminated(r) => self.steps(&r.abandoned),
            Body::ExecutionRetried(_) => self.forget_failures(),
            // The other kinds are not part of the structure.
            _ => {}
        }
    }

    fn open(&mut self, location: &Location, kind: NodeKind) {
        self.at(location).is(kind);
    }

    /// Adds an operation that is complete when it is recorded.
    fn momentary(&mut self, location: &Location, kind: NodeKind) {
        let part = self.at(location);
        if part.is(kind) {
            part.set_outcome(NodeStatus::Completed);
        }
    }

    fn steps<'a>(&mut self, locations: impl IntoIterator<Item = &'a Location>) {
        for location in locations {
            self.open(location, NodeKind::Step);
        }
    }

    fn undo(&mut self, location: &Location, status: NodeStatus) {
        let part = self.at(location);
        let is_undoable = part.kind.as_ref().is_some_and(is_child) || part.is(NodeKind::Step);
        if is_undoable && part.undo != Some(NodeStatus::Undone) {
            part.undo = Some(status);
        }
    }

    fn forced_failure(&mut self, record: &ForcedFailure) {
        let Some(location) = &record.location else {
            return;
        };
        let part = self.at(location);
        part.kind.get_or_insert(NodeKind::Step);
        part.set_outcome(NodeStatus::Failed);
    }

    fn timer_fired(&mut self, record: &TimerFired) {
        let Some(location) = &record.location else {
            return;
        };
        match record.purpose {
            TimerPurpose::Sleep => self.end(location, is_sleep, NodeStatus::Completed),
            TimerPurpose::Wait => self.end(location, is_wait, NodeStatus::TimedOut),
            TimerPurpose::Rpc => self.end(location, is_rpc, NodeStatus::TimedOut),
            TimerPurpose::Child => self.end(location, is_child, NodeStatus::TimedOut),
            TimerPurpose::Retry
            | TimerPurpose::ExecutionRetry
            | TimerPurpose::Deadline
            | TimerPurpose::Undo
            | TimerPurpose::Expiry => {}
        }
    }

    /// Counts even if the timer fired first: the executor decided the race between event and
    /// timeout.
    fn wait_completed(&mut self, record: &WaitCompleted) {
        if let Some(part) = self.known(&record.location) {
            part.outcome
                .take_if(|status| *status == NodeStatus::TimedOut);
        }
        self.end(&record.location, is_wait, NodeStatus::Completed);
    }

    fn branches_started(&mut self, record: &BranchesStarted) {
        let kind = match record.kind {
            BranchesKind::Join => NodeKind::Join,
            BranchesKind::Race => NodeKind::Race,
        };
        self.open(&record.location, kind);
        for branch in &record.branches {
            self.branch(&record.location, branch)
                .is(NodeKind::Branch { won: false });
        }
    }

    fn race_won(&mut self, race: &Location, winner: &Name) {
        let part = self.at(race);
        if !part.is(NodeKind::Race) || part.outcome.is_some() {
            return;
        }
        part.set_outcome(NodeStatus::Completed);
        let branch = self.branch(race, winner);
        branch.set_outcome(NodeStatus::Completed);
        branch.kind = Some(NodeKind::Branch { won: true });
    }

    fn switch_chosen(&mut self, record: &SwitchChosen) {
        self.open(&record.location, NodeKind::Switch);
        self.branch(&record.location, &record.branch)
            .is(NodeKind::Branch { won: false });
    }

    fn loop_advanced(&mut self, record: &LoopAdvanced) {
        let begun = record.iteration.saturating_add(u64::from(record.done));
        let part = self.at(&record.location);
        let own = NodeKind::Loop { iterations: begun };
        if let NodeKind::Loop { iterations } = part.kind.get_or_insert(own) {
            *iterations = begun.max(*iterations);
            if record.done {
                part.set_outcome(NodeStatus::Completed);
            }
        }
    }

    fn child_started(&mut self, record: &ChildStarted) {
        let part = self.at(&record.location);
        let is_child = part.is(NodeKind::Child {
            run: record.run.clone(),
            workflow: record.workflow.clone(),
            detached: record.detached,
        });
        // The run does not wait for a detached child.
        if is_child && record.detached {
            part.set_outcome(NodeStatus::Completed);
        }
    }

    fn child_finished(&mut self, record: &ChildFinished) {
        let status = match &record.outcome {
            ChildOutcome::Completed(_) => NodeStatus::Completed,
            ChildOutcome::Failed(_) | ChildOutcome::Cancelled(_) => NodeStatus::Failed,
        };
        self.end(&record.location, is_child, status);
    }

    /// Ends an operation. Ignores the record if the location holds no operation of this kind.
    fn end(&mut self, location: &Location, is_it: fn(&NodeKind) -> bool, status: NodeStatus) {
        let part = self.known(location);
        if let Some(part) = part.filter(|part| part.kind.as_ref().is_some_and(is_it)) {
            part.set_outcome(status);
        }
    }
}

fn is_sleep(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Sleep)
}

fn is_wait(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Wait { .. })
}

fn is_rpc(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Rpc { .. })
}

fn is_child(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Child { .. })
}
