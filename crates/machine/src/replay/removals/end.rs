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
    /// Returns where an operation of this kind ended.
    pub(super) fn of(location: &Location, kind: RemovedKind, past: &Past) -> Self {
        // The first record about the operation itself that satisfies the condition.
        let find = |records: &[(RecordNumber, Body)], is_end: fn(&Body) -> bool| {
            let mut own = records.iter().filter(|(_, body)| is_at(body, location));
            let found = own.find(|(_, body)| is_end(body));
            found.map(|(number, _)| *number)
        };
        let line = |is_end| find(&past.lines, is_end).map(End::Line);
        let folded = |is_end| find(&past.others, is_end).map(End::Folded);
        let dropped = || line(|body| matches!(body, Body::StepAbandoned(_)));
        if line(|body| matches!(body, Body::Removed(_))).is_some() {
            return End::Recorded;
        }
        let end = match kind {
            RemovedKind::Step => folded(is_step_result).or_else(dropped),
            RemovedKind::Sleep => folded(|body| matches!(body, Body::TimerFired(_))),
            RemovedKind::Event => {
                line(|body| matches!(body, Body::WaitCompleted(_) | Body::WaitTimedOut(_)))
            }
            RemovedKind::Rpc => line(|body| matches!(body, Body::RpcCompleted(_))),
            RemovedKind::Child => {
                folded(|body| matches!(body, Body::ChildFinished(_))).or_else(dropped)
            }
            RemovedKind::Join => last_branch(past, location),
            RemovedKind::Race => line(|body| matches!(body, Body::RaceWon(_)))
                .or_else(|| last_branch(past, location)),
            RemovedKind::Loop => {
                line(|body| matches!(body, Body::LoopAdvanced(record) if record.done))
            }
            RemovedKind::Switch => end_of_switch(past),
            RemovedKind::Send
            | RemovedKind::Reply
            | RemovedKind::Note
            | RemovedKind::Row
            | RemovedKind::Emit
            | RemovedKind::Attribute
            | RemovedKind::Version
            | RemovedKind::NoReturn => past.lines.first().map(|(number, _)| End::Line(*number)),
        };
        end.unwrap_or(End::Open)
    }
}

/// Finds the end of a switch, which records only its choice. It ends with the last record inside
/// it, if nothing in it is open.
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
    /// Returns whether something began and has not ended.
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
        let mut locations = begun.filter_map(|(_, body)| body.location());
        locations.any(|location| !self.has_ended(location))
    }

    fn has_ended(&self, location: &Location) -> bool {
        let mut all = self.lines.iter().chain(&self.others);
        all.any(|(_, body)| is_at(body, location) && is_end(body))
    }

    /// Returns the children that have not ended, as if the code had stopped waiting for them.
    pub(super) fn open_children(&self) -> Vec<LeftChild> {
        let started = self.lines.iter().filter_map(|(_, body)| match body {
            Body::ChildStarted(record) if !record.detached => Some(record),
            _ => None,
        });
        let open = started.filter(|record| !self.has_ended(&record.location));
        open.filter_map(|record| LeftChild::new(&record.location, &record.run, record.on_close))
            .collect()
    }

    /// Returns the rows that it may have in the store.
    pub(super) fn rows(&self) -> Vec<Obsolete> {
        let mut rows = Vec::new();
        for (_, body) in self.lines.iter().chain(&self.others) {
            let (due, purpose) = match body {
                Body::Sleeping(record) => (Some(record.until), TimerPurpose::Sleep),
                Body::Waiting(record) => (record.deadline, TimerPurpose::Wait),
                Body::RpcRequested(record) => {
                    rows.push(Obsolete::Rpc(record.rpc_id.clone()));
                    (record.deadline, TimerPurpose::Rpc)
                }
                Body::ChildStarted(record) => (record.deadline, TimerPurpose::Child),
                Body::StepFailed(record) => (record.retry_at, TimerPurpose::Retry),
                _ => continue,
            };
            rows.extend(due.map(|due| Obsolete::Timer(due, purpose, body.location().cloned())));
        }
        rows
    }
}

/// Returns the end of the last branch, if all have ended.
fn last_branch(past: &Past, location: &Location) -> Option<End> {
    let own = past.lines.iter().filter(|(_, body)| is_at(body, location));
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

fn is_at(body: &Body, location: &Location) -> bool {
    body.location() == Some(location)
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
