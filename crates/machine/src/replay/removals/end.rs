//! Where a removed operation ended, according to the journal.

use everstep_model::record::TimerPurpose;
use everstep_model::{Body, Location, RecordNumber};

use super::{Past, RemovedKind};
use crate::replay::operations::Obsolete;
use crate::replay::outgoing::LeftChild;

/// Where the code continues behind a removed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Where the code added this line of the script.
    Line(RecordNumber),
    /// Where this record was folded.
    Folded(RecordNumber),
    /// Where the record of its removal is folded.
    Recorded,
    /// The journal contains no end of it.
    Open,
}

impl End {
    /// Where an operation of this kind ended.
    pub(super) fn of(place: &Location, kind: RemovedKind, past: &Past) -> Self {
        let is_removal = |body: &Body| matches!(body, Body::Removed(_)) && is_at(body, place);
        if past.lines.iter().any(|(_, body)| is_removal(body)) {
            return End::Recorded;
        }
        let line = |is_end: &dyn Fn(&Body) -> bool| {
            let found = past.lines.iter().find(|(_, body)| is_end(body));
            found.map(|(number, _)| End::Line(*number))
        };
        let folded = |is_end: &dyn Fn(&Body) -> bool| {
            let other = past.others.iter().find(|(_, body)| is_end(body));
            other.map(|(number, _)| End::Folded(*number))
        };
        let dropped = || line(&|body| matches!(body, Body::StepAbandoned(_)) && is_at(body, place));
        let end = match kind {
            RemovedKind::Step => {
                folded(&|body| is_step_result(body) && is_at(body, place)).or_else(dropped)
            }
            RemovedKind::Sleep => {
                folded(&|body| matches!(body, Body::TimerFired(_)) && is_at(body, place))
            }
            RemovedKind::Event => line(&|body| {
                matches!(body, Body::WaitCompleted(_) | Body::WaitTimedOut(_)) && is_at(body, place)
            }),
            RemovedKind::Rpc => {
                line(&|body| matches!(body, Body::RpcCompleted(_)) && is_at(body, place))
            }
            RemovedKind::Child => {
                folded(&|body| matches!(body, Body::ChildFinished(_)) && is_at(body, place))
                    .or_else(dropped)
            }
            RemovedKind::Join => last_branch(past, place),
            RemovedKind::Race => {
                line(&|body| matches!(body, Body::RaceWon(_)) && is_at(body, place))
                    .or_else(|| last_branch(past, place))
            }
            RemovedKind::Loop => line(&|body| {
                matches!(body, Body::LoopAdvanced(record) if record.done) && is_at(body, place)
            }),
            RemovedKind::Switch => end_of_switch(past),
            RemovedKind::Send
            | RemovedKind::Note
            | RemovedKind::Row
            | RemovedKind::Emit
            | RemovedKind::Attribute
            | RemovedKind::Version => line(&|_| true),
        };
        end.unwrap_or(End::Open)
    }
}

/// A switch records only its choice. It ends with the last record inside it, if nothing in it is open.
fn end_of_switch(past: &Past) -> Option<End> {
    let line = past.lines.last().map(|(number, _)| *number);
    let other = past.others.last().map(|(number, _)| *number);
    let last = line.max(other)?;
    if past.has_open() {
        return None;
    }
    Some(if line > other {
        End::Line(last)
    } else {
        End::Folded(last)
    })
}

impl Past {
    /// Whether something began and has not ended.
    fn has_open(&self) -> bool {
        let begun = self.lines.iter().filter(|(_, body)| {
            matches!(
                body,
                Body::StepStarted(_)
                    | Body::Sleeping(_)
                    | Body::Waiting(_)
                    | Body::RpcRequested(_)
                    | Body::ChildStarted(_)
            )
        });
        let mut places = begun.filter_map(|(_, body)| body.location());
        places.any(|place| !self.has_ended(place))
    }

    fn has_ended(&self, place: &Location) -> bool {
        let mut all = self.lines.iter().chain(&self.others);
        all.any(|(_, body)| is_at(body, place) && is_end(body))
    }

    /// The children that have not ended, as if the code had stopped waiting for them.
    pub(super) fn open_children(&self) -> Vec<LeftChild> {
        let started = self.lines.iter().filter_map(|(_, body)| match body {
            Body::ChildStarted(record) if !record.detached => Some(record),
            _ => None,
        });
        let open = started.filter(|record| !self.has_ended(&record.location));
        open.filter_map(|record| LeftChild::new(&record.location, &record.run, record.on_close))
            .collect()
    }

    /// The rows that it may have in the store.
    pub(super) fn rows(&self) -> Vec<Obsolete> {
        let mut rows = Vec::new();
        for (_, body) in self.lines.iter().chain(&self.others) {
            let timer = |due, purpose| Obsolete::Timer(due, purpose, body.location().cloned());
            match body {
                Body::Sleeping(record) => rows.push(timer(record.until, TimerPurpose::Sleep)),
                Body::Waiting(record) => {
                    rows.extend(record.deadline.map(|due| timer(due, TimerPurpose::Wait)));
                }
                Body::RpcRequested(record) => {
                    rows.extend(record.deadline.map(|due| timer(due, TimerPurpose::Rpc)));
                    rows.push(Obsolete::Rpc(record.rpc_id.clone()));
                }
                Body::ChildStarted(record) => {
                    rows.extend(record.deadline.map(|due| timer(due, TimerPurpose::Child)));
                }
                Body::StepFailed(record) => {
                    rows.extend(record.retry_at.map(|due| timer(due, TimerPurpose::Retry)));
                }
                _ => {}
            }
        }
        rows
    }
}

/// The end of the last branch, if all have ended.
fn last_branch(past: &Past, place: &Location) -> Option<End> {
    let own = past.lines.iter().filter(|(_, body)| is_at(body, place));
    let count = own.clone().find_map(|(_, body)| match body {
        Body::BranchesStarted(record) => Some(record.branches.len()),
        _ => None,
    })?;
    let ended =
        own.filter(|(_, body)| matches!(body, Body::BranchCompleted(_) | Body::BranchFailed(_)));
    let numbers: Vec<RecordNumber> = ended.map(|(number, _)| *number).collect();
    let last = match count.checked_sub(1) {
        Some(last) => numbers.get(last).copied()?,
        // Without branches it ended at once.
        None => past.lines.first()?.0,
    };
    Some(End::Line(last))
}

fn is_at(body: &Body, place: &Location) -> bool {
    body.location() == Some(place)
}

fn is_step_result(body: &Body) -> bool {
    match body {
        Body::StepCompleted(_) | Body::StepSkipped(_) | Body::StepEdited(_) => true,
        Body::StepFailed(failed) => failed.retry_at.is_none(),
        Body::ForcedFailure(_) => true,
        _ => false,
    }
}

fn is_end(body: &Body) -> bool {
    is_step_result(body)
        || matches!(
            body,
            Body::StepAbandoned(_)
                | Body::TimerFired(_)
                | Body::WaitCompleted(_)
                | Body::WaitTimedOut(_)
                | Body::RpcCompleted(_)
                | Body::ChildFinished(_)
        )
}
