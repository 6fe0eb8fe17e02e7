//! Recovery: the records that a run keeps so that it continues as if it had not failed.
//!
//! The failures that ended the run and their consequences are removed. Records of other branches
//! stay, because they do not depend on the failures. If the code reacted to a failure, the journal
//! is cut there. Steps that were undone run again.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use everstep_model::record::{StepFailed, TimerPurpose};
use everstep_model::{Body, Entry, Location, RunStatus, Timestamp};

use super::kept::Kept;
use super::plan::CannotFork;
use super::scopes::scope_of;
use super::select::{end_of_life, last_sound, up_to};
use super::undone::{first_undone, rollback_begins};
use crate::replay::branch_scope;
use crate::undo::Subject;

/// Returns the records to keep, and whether the copy repeats steps that were undone.
pub(super) fn recovered(journal: &[Entry]) -> Result<(Vec<Kept>, bool), CannotFork> {
    match end_of(journal)? {
        RunStatus::Failed
        | RunStatus::RollbackFailed
        | RunStatus::Cancelled
        | RunStatus::Terminated => {}
        other => return Err(CannotFork::WrongStatus(other)),
    }
    let rollback = rollback_begins(journal);
    if let Some(undone) = first_undone(journal, rollback) {
        let kept = up_to(journal, undone.min(end_of_life(journal)))?;
        return Ok((kept, true));
    }
    let end = end_of_life(journal).min(rollback);
    let causes = causes(journal, end);
    let cut = reaction(journal, &causes, end).unwrap_or(end);
    let sound = last_sound(journal, cut.min(journal.len()));
    let repeats_undone = first_undone(journal, sound).is_some();
    let mut kept = up_to(journal, cut)?;
    let pass = pass_begins(journal);
    kept.retain(|kept| {
        let is_earlier = kept.number < journal.get(pass).map(|entry| entry.number);
        is_earlier || !causes.iter().any(|cause| cause.explains(&kept.record.body))
    });
    for kept in &mut kept {
        if let Body::StepStarted(started) = &mut kept.record.body
            && (causes.iter()).any(|cause| cause.location == started.location)
        {
            // The step counts as called without an attempt, so attempts count from 1 again.
            started.attempt = 0;
        }
    }
    Ok((kept, repeats_undone))
}

/// Keeps everything but the end and the attempts of the undo that failed for good.
pub(super) fn rollback_retried(journal: &[Entry]) -> Result<Vec<Kept>, CannotFork> {
    match end_of(journal)? {
        RunStatus::RollbackFailed => {}
        other => return Err(CannotFork::WrongStatus(other)),
    }
    let gave_up = |entry: &Entry| match &entry.record.body {
        Body::UndoFailed(record) => record.retry_at.is_none(),
        _ => false,
    };
    let first = journal.iter().position(gave_up).unwrap_or(journal.len());
    let failed: BTreeSet<Subject> = journal
        .iter()
        .filter(|entry| gave_up(entry))
        .filter_map(|entry| Subject::of(&entry.record.body))
        .collect();
    let is_failed = |body: &Body| Subject::of(body).is_some_and(|what| failed.contains(&what));
    // A timer does not name the child it is for, so its location and due time decide.
    let timers: Vec<(&Location, Timestamp)> = journal
        .iter()
        .filter(|entry| is_failed(&entry.record.body))
        .filter_map(|entry| match &entry.record.body {
            Body::UndoFailed(record) => Some((&record.location, record.retry_at?)),
            _ => None,
        })
        .collect();
    let is_retried = |body: &Body| match body {
        Body::UndoStarted(_) | Body::UndoFailed(_) => is_failed(body),
        Body::TimerFired(record) if record.purpose == TimerPurpose::Undo => {
            let location = record.location.as_ref();
            location.is_some_and(|at| timers.contains(&(at, record.due)))
        }
        body => body.terminal().is_some(),
    };
    // Code that requested the rollback may have continued after its failure. Those records are
    // removed.
    let mut after = journal.iter().skip(first);
    let has_continued = after.any(|entry| entry.record.body.is_scripted());
    let end = if has_continued { first } else { journal.len() };
    let rest = journal.iter().take(end);
    let rest = rest.filter(|entry| !is_retried(&entry.record.body));
    Ok(rest.map(Kept::of).collect())
}

fn end_of(journal: &[Entry]) -> Result<RunStatus, CannotFork> {
    let mut ends = journal
        .iter()
        .filter_map(|entry| entry.record.body.terminal());
    ends.next().ok_or(CannotFork::NotEnded)
}

/// Returns where the last pass of the function begins.
fn pass_begins(journal: &[Entry]) -> usize {
    let retried = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
    journal.iter().rposition(retried).map_or(0, |last| last + 1)
}

/// A failure that ended the run.
struct Cause {
    location: Location,
    /// The index of the record that made the failure final.
    at: usize,
}

impl Cause {
    /// Returns whether a record led to the failure, or records that a branch around it failed.
    fn explains(&self, body: &Body) -> bool {
        match body {
            // The first start is scripted, so the copy needs it.
            Body::StepStarted(record) => {
                record.options.is_none() && record.location == self.location
            }
            Body::TimerFired(record) if record.purpose != TimerPurpose::Retry => false,
            Body::StepFailed(_)
            | Body::TimerFired(_)
            | Body::ForcedFailure(_)
            | Body::ChildFinished(_) => body.location() == Some(&self.location),
            Body::BranchFailed(record) => {
                let branch = branch_scope(&record.location, &record.branch);
                self.location.scope.is_within(&branch)
            }
            _ => false,
        }
    }
}

/// Returns the failures that the end of the run names.
fn causes(journal: &[Entry], end: usize) -> Vec<Cause> {
    let named: Vec<Location> = match journal.get(end).map(|entry| &entry.record.body) {
        Some(Body::Failed(failed)) => failed.caused_by.clone(),
        _ => match journal.last().map(|entry| &entry.record.body) {
            // `rollback_failed` names no causes; the run's error is that of the step.
            Some(Body::RollbackFailed(failed)) => {
                let is_it = |step: &&StepFailed| step.error == failed.error;
                let failures = final_failures(journal);
                let step = failures.filter(is_it).last();
                step.map(|step| step.location.clone()).into_iter().collect()
            }
            _ => Vec::new(),
        },
    };
    let pass = pass_begins(journal);
    let find = |location: Location| {
        let cause = Cause { location, at: 0 };
        let ends_it = |entry: &Entry| {
            let body = &entry.record.body;
            !matches!(body, Body::BranchFailed(_)) && cause.explains(body)
        };
        let at = journal.iter().rposition(ends_it)?;
        (at >= pass).then_some(Cause { at, ..cause })
    };
    named.into_iter().filter_map(find).collect()
}

fn final_failures(journal: &[Entry]) -> impl Iterator<Item = &StepFailed> {
    journal.iter().filter_map(|entry| match &entry.record.body {
        Body::StepFailed(record) if record.retry_at.is_none() => Some(&**record),
        _ => None,
    })
}

/// Returns the index of the first scripted record that depends on a failure.
fn reaction(journal: &[Entry], causes: &[Cause], end: usize) -> Option<usize> {
    let reacts = |index: usize, body: &Body| {
        if !body.is_scripted() || causes.iter().any(|cause| cause.explains(body)) {
            return false;
        }
        let earlier = causes.iter().filter(|cause| cause.at < index);
        let mut dependent = earlier.filter(|cause| !is_beside(journal, cause, body));
        dependent.next().is_some()
    };
    let scanned = journal.iter().enumerate().take(end);
    let mut reactions = scanned.filter(|(index, entry)| reacts(*index, &entry.record.body));
    reactions.next().map(|(index, _)| index)
}

/// Returns whether a record belongs to another branch of a join or race around the failure, which
/// continues regardless of its siblings.
fn is_beside(journal: &[Entry], cause: &Cause, body: &Body) -> bool {
    let Some(scope) = scope_of(body) else {
        return false;
    };
    let started = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::BranchesStarted(record) => Some(record),
        _ => None,
    });
    let failed = &cause.location.scope;
    let mut branches = started.map(|record| record.location.inner_scope());
    branches.any(|branches| {
        let depth = branches.segments().len();
        let branch = scope.segments().get(depth);
        failed.is_within(&branches)
            && scope.is_within(&branches)
            && branch.is_some()
            && branch != failed.segments().get(depth)
    })
}
