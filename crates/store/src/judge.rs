//! The judgement of a commit: pure, and shared by every backend that can hold a head in its hand.
//!
//! A backend loads the head, answers the questions about rows, and applies what a [`Verdict::Apply`] says. One
//! judgement for all backends is what makes them behave alike.

use std::sync::Arc;

use everstep_model::{ExecutorSeq, NodeId, Origin, RecordNumber, RunStatus};

use crate::commit::{Author, Commit, Fence, Guard, LeaseChange, Target};
use crate::head::{Head, Owner};
use crate::row::{Row, RowKey};

/// What judging needs to know besides the head.
pub trait Liveness {
    /// Whether a node's lease is alive by the store's clock.
    fn is_alive(&self, node: NodeId) -> bool;
    /// A row, as of this moment of the batch.
    fn row(&self, key: &RowKey) -> Option<Row>;
    /// The place of the commit that used this dedup id on this stream, as of this moment of the batch.
    fn dedup(&self, id: &str) -> Option<RecordNumber>;
}

/// What is to be done with a commit.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// Write it; this is the head after it.
    Apply {
        /// The head after the commit.
        head: Box<Head>,
        /// The number of its first record.
        first: RecordNumber,
        /// The right it took.
        taken: Option<Fence>,
    },
    /// It had taken effect before.
    Duplicate {
        /// Where.
        first: RecordNumber,
    },
    /// More came in than the executor has seen: refuse with the records from here on.
    InboxGrew {
        /// What the executor knows.
        seen: RecordNumber,
    },
    /// Refuse it.
    Refuse(crate::Refusal),
}

/// Judges a commit against the head it meets. For a stream that is being created, pass a new head.
pub fn judge(head: &Head, commit: &Commit, world: &impl Liveness) -> Verdict {
    use crate::Refusal;
    if let Some(first) = commit.dedup.as_deref().and_then(|id| world.dedup(id)) {
        return Verdict::Duplicate { first };
    }
    if let Author::Executor { fence, seq, .. } = commit.author {
        if let Some(verdict) = judge_fence(head, fence, seq) {
            return verdict;
        }
    } else if !matches!(commit.target, Target::Create(_))
        && commit
            .records
            .iter()
            .any(|r| r.body.origin() != Origin::Inbox)
    {
        return Verdict::Refuse(Refusal::NotInbox);
    }
    let takes_rows = || head.name.user_path().is_some() && commit.only_rows();
    if head.closed && !commit.only_deletes() && !takes_rows() {
        return Verdict::Refuse(Refusal::Closed);
    }
    for guard in &commit.guards {
        if let Some(verdict) = judge_guard(head, commit, guard, world) {
            return verdict;
        }
    }
    let first = head.next;
    let mut after = head.clone();
    append(&mut after, commit);
    let taken = change_lease(&mut after, head, commit.lease, world);
    if let Some(run) = &commit.run {
        after.run = Some(Arc::new(run.clone()));
    }
    change_status(&mut after, commit, taken.is_some());
    if let Some(ready) = commit.ready {
        after.ready = ready;
    }
    after.closed |= commit.close;
    Verdict::Apply {
        head: Box::new(after),
        first,
        taken,
    }
}

/// Judges a removal against the heads of its streams, in the order it names them, and the rows it guards.
#[must_use]
pub fn judge_removal(
    heads: &[Option<&Head>],
    commit: &Commit,
    world: &impl Liveness,
) -> Option<crate::Refusal> {
    use crate::Refusal;
    for head in heads {
        match head {
            None => return Some(Refusal::NoStream),
            Some(head) if !head.closed && head.name.user_path().is_none() => {
                return Some(Refusal::Open);
            }
            Some(_) => {}
        }
    }
    let guarded = commit.guards.iter();
    if let Some(refusal) = guarded.filter_map(|guard| judge_row(guard, world)).next() {
        return Some(refusal);
    }
    match heads.first() {
        None => Some(Refusal::NoStream),
        Some(latest) => latest
            .is_some_and(|latest| latest.superseded)
            .then_some(Refusal::Superseded),
    }
}

/// Judges whether a new stream may take the place of this one.
#[must_use]
pub fn judge_superseded(old: Option<&Head>) -> Option<crate::Refusal> {
    use crate::Refusal;
    match old {
        None => Some(Refusal::NoStream),
        Some(old) if !old.closed => Some(Refusal::Open),
        Some(old) => old.superseded.then_some(Refusal::Superseded),
    }
}

fn judge_fence(head: &Head, fence: Fence, seq: ExecutorSeq) -> Option<Verdict> {
    let last_of_epoch = |epoch| {
        if head.frame.epoch == epoch {
            head.frame.seq
        } else {
            ExecutorSeq(0)
        }
    };
    let last = last_of_epoch(fence.epoch);
    // The last commit may itself have given up or closed the run, so a repetition is known by the journal alone.
    let repeats = seq == last && seq != ExecutorSeq(0);
    if repeats
        && (head.fence() == Some(fence) || (head.owner.is_none() && head.epoch == fence.epoch))
    {
        return Some(Verdict::Duplicate {
            first: head.frame.executor_at,
        });
    }
    if head.fence() != Some(fence) {
        return Some(Verdict::Refuse(crate::Refusal::Fenced));
    }
    if seq != last.next() {
        return Some(Verdict::Refuse(crate::Refusal::OutOfOrder));
    }
    None
}

fn judge_guard(
    head: &Head,
    commit: &Commit,
    guard: &Guard,
    world: &impl Liveness,
) -> Option<Verdict> {
    use crate::Refusal;
    match guard {
        Guard::InboxSeen(count) if *count != head.frame.inbox_count => {
            let seen = match commit.author {
                Author::Executor { seen, .. } => seen,
                Author::Inbox => head.next,
            };
            Some(Verdict::InboxGrew { seen })
        }
        Guard::EndsAt(end) if *end != head.next => {
            Some(Verdict::Refuse(Refusal::EndsElsewhere(head.next)))
        }
        Guard::UnconsumedEventsBelow(limit) if head.frame.unconsumed_events >= *limit => Some(
            Verdict::Refuse(Refusal::TooManyEvents(head.frame.unconsumed_events)),
        ),
        Guard::InboxSeen(_) | Guard::EndsAt(_) | Guard::UnconsumedEventsBelow(_) => None,
        Guard::RowPresent(_) | Guard::RowAbsent(_) | Guard::RowIs(_) => {
            judge_row(guard, world).map(Verdict::Refuse)
        }
    }
}

/// Judges a guard that looks at a row; others are of no concern here.
fn judge_row(guard: &Guard, world: &impl Liveness) -> Option<crate::Refusal> {
    use crate::Refusal;
    match guard {
        Guard::RowPresent(key) => world.row(key).is_none().then_some(Refusal::RowAbsent),
        Guard::RowAbsent(key) => {
            let row = world.row(key)?;
            Some(Refusal::RowPresent(Box::new(row)))
        }
        Guard::RowIs(expected) => {
            let found = world.row(&expected.key());
            (found.as_ref() != Some(expected)).then_some(Refusal::RowChanged)
        }
        Guard::InboxSeen(_) | Guard::EndsAt(_) | Guard::UnconsumedEventsBelow(_) => None,
    }
}

fn append(after: &mut Head, commit: &Commit) {
    let first = after.next;
    after.next = first.plus(commit.records.len());
    after.frame = after.frame.after(&commit.records);
    if let Author::Executor {
        fence,
        seq,
        progress,
        ..
    } = commit.author
    {
        after.frame.epoch = fence.epoch;
        after.frame.seq = seq;
        after.frame.executor_at = first;
        if progress {
            after.frame.progress_epoch = fence.epoch;
        }
    }
}

/// What a run of this status becomes when it is taken: it is running, unless it is on its way to something else, and who takes
/// it goes on with that.
#[must_use]
pub fn status_once_taken(status: RunStatus) -> RunStatus {
    match status {
        RunStatus::Pausing | RunStatus::Paused | RunStatus::Cancelling | RunStatus::RollingBack => {
            status
        }
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Sleeping
        | RunStatus::Waiting
        | RunStatus::Retrying
        | RunStatus::Diverged
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::RollbackFailed
        | RunStatus::Cancelled
        | RunStatus::Terminated => RunStatus::Running,
    }
}

/// What the commit itself says comes before what taking the run would make of it.
fn change_status(after: &mut Head, commit: &Commit, taken: bool) {
    let Some(run) = &mut after.run else { return };
    let once_taken = taken.then(|| status_once_taken(run.status));
    let status = commit.status.or(once_taken);
    if let Some(status) = status
        && status != run.status
    {
        let run = Arc::make_mut(run);
        run.status = status;
        run.updated_at = commit.now;
    }
}

fn change_lease(
    after: &mut Head,
    before: &Head,
    change: LeaseChange,
    world: &impl Liveness,
) -> Option<Fence> {
    match change {
        LeaseChange::Keep => None,
        LeaseChange::Release => {
            after.owner = None;
            after.takeovers = 0;
            None
        }
        LeaseChange::Abandon => {
            after.takeovers = takeovers(before);
            after.owner = None;
            None
        }
        LeaseChange::Revoke => {
            after.takeovers = 0;
            after.owner = None;
            after.epoch = after.epoch.next();
            None
        }
        LeaseChange::TakeIfFree { node, nonce } => {
            // The same claim sent again, because its outcome was lost, gets the same answer.
            if before.owner == Some(Owner { node, nonce }) {
                return before.fence();
            }
            if before.owner.is_some_and(|owner| world.is_alive(owner.node)) {
                return None;
            }
            after.takeovers = takeovers(before);
            after.epoch = after.epoch.next();
            after.owner = Some(Owner { node, nonce });
            after.fence()
        }
    }
}

/// How often the run was taken from a node that died while it executed the run and got nowhere. A node that died before
/// it wrote anything for this run says nothing about the run: it may have died of another one.
fn takeovers(before: &Head) -> u32 {
    let progressed = before.frame.progress_epoch == before.epoch;
    let acted = before.frame.epoch == before.epoch;
    match before.owner {
        // It was given up, which set the count, or abandoned, which counted.
        None => before.takeovers,
        Some(_) if progressed => 1,
        Some(_) if acted => before.takeovers + 1,
        Some(_) => before.takeovers,
    }
}
