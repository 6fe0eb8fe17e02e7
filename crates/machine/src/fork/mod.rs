//! Forking: a new journal that begins as a copy of another, for a new generation of a run or for another run.
//!
//! Pure: a journal and a plan in, the records of the new journal out, or the reason why not. What is kept is decided by
//! `select.rs` (up to an operation) and `recover.rs` (past a failure); `copy.rs` makes the kept records those of the new
//! run. The result replays against the same code up to its end, because it is a journal that the code could have left:
//! nothing that the code said is missing in the middle, and every result stands where it stood.

mod compacted;
mod copy;
mod moments;
mod place;
mod recover;
mod running;
#[cfg(test)]
mod samples;
mod select;
#[cfg(test)]
mod tests;

use everstep_model::record::{ForkReason, ResumeRequested};
use everstep_model::{
    Body, Entry, Generation, Location, Payload, Record, RecordNumber, RunId, RunStatus, Seed,
    Timestamp,
};

use crate::undo::UndoFold;

/// What to make of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkPlan {
    /// The run whose journal is copied, and which life of it.
    pub source: (RunId, Generation),
    /// When that life began.
    pub began: Timestamp,
    /// The run the new journal belongs to, and which life of it.
    pub target: (RunId, Generation),
    /// How much is copied.
    pub extent: ForkExtent,
    /// Who asked.
    pub by: Option<String>,
    /// The time of the copy.
    pub now: Timestamp,
    /// Drawn at random: tells the copy from every other one that has had, or will have, its id.
    pub mark: Seed,
}

/// How much of a journal is copied.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkExtent {
    /// Nothing but how the run began. It gets this version of its workflow, if one is given.
    Beginning(Option<u32>),
    /// Everything before an operation.
    Before {
        /// The operation; a place inside a loop stands for the whole loop.
        at: Location,
        /// The result it is taken to have had, for a step.
        edited: Option<Payload>,
    },
    /// Everything up to where the run is, or was before something ended it.
    End,
    /// Everything but what made it fail, or what ended it.
    Recovered,
    /// Everything but the undo that failed for good.
    RollbackRetried,
}

/// Why a journal cannot be copied so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotFork {
    /// There is no such operation.
    #[error("it has no operation `{0}`")]
    UnknownOperation(Location),
    /// A step that would be copied has no result yet.
    #[error(
        "its step `{0}` began before that place and is still running; wait for its end, or terminate the run first"
    )]
    StillRunning(Location),
    /// Only steps have results that can be edited.
    #[error("`{0}` is no step, so it has no result to edit")]
    NotAStep(Location),
    /// Loops are repeated as a whole.
    #[error("`{0}` is inside a loop, which is repeated as a whole, so its result cannot be edited")]
    InsideLoop(Location),
    /// Records from before the place are missing.
    #[error(
        "not all that came before `{0}` is in its journal any more, because loops keep only their last iterations"
    )]
    Compacted(Location),
    /// A result cannot be edited behind steps that were undone.
    #[error(
        "steps before `{0}` were undone, so a copy begins before them and cannot edit its result; recover the run, or copy it \
         without an edited result"
    )]
    Undone(Location),
    /// Only runs that have ended can be revived.
    #[error("it has not ended")]
    NotEnded,
    /// The run did not end in a way that this applies to.
    #[error("it is {0}")]
    WrongStatus(RunStatus),
    /// The first record is missing.
    #[error("its journal does not begin with `created`")]
    NoBeginning,
}

/// A journal's copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Forked {
    /// Its records, in order; the first is `created`.
    pub records: Vec<Record>,
    /// Whether steps that were undone are done again.
    pub repeats_undone: bool,
}

/// A record of the copy: where it stood in the original, if it did.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    number: Option<RecordNumber>,
    record: Record,
}

impl Kept {
    fn of(entry: &Entry) -> Self {
        Self {
            number: Some(entry.number),
            record: entry.record.clone(),
        }
    }
}

/// Copies a journal as planned.
///
/// # Errors
/// If the plan does not fit the journal.
pub fn fork(journal: &[Entry], reason: ForkReason, plan: &ForkPlan) -> Result<Forked, CannotFork> {
    let Some(Body::Created(created)) = journal.first().map(|first| &first.record.body) else {
        return Err(CannotFork::NoBeginning);
    };
    let mut repeats_undone = false;
    let mut kept = match &plan.extent {
        ForkExtent::Beginning(_) => journal.iter().take(1).map(Kept::of).collect(),
        ForkExtent::Before { at, edited } => select::before(journal, at, edited.as_ref(), plan)?,
        ForkExtent::End => select::whole(journal)?,
        ForkExtent::Recovered => {
            let recovered = recover::recovered(journal)?;
            repeats_undone = recovered.repeats_undone;
            recovered.kept
        }
        ForkExtent::RollbackRetried => recover::rollback_retried(journal)?,
    };
    compacted::say_what_is_gone(journal, &mut kept);
    compacted::keep_the_time(journal, &mut kept);
    let keeps_keys = match plan.extent {
        // What was undone is to be done again, not to be taken for done.
        ForkExtent::Recovered => !repeats_undone,
        ForkExtent::RollbackRetried => true,
        ForkExtent::Beginning(_) | ForkExtent::Before { .. } | ForkExtent::End => false,
    };
    let inherited = created.forked_from.as_ref().and_then(|from| from.keys_of);
    let keys_of = keeps_keys.then(|| inherited.unwrap_or(plan.source.1));
    let mut records = copy::copy(kept, reason, keys_of, plan);
    if is_paused(&records) {
        let by = plan.by.clone();
        records.push(Record {
            time: plan.now,
            body: ResumeRequested { by }.into(),
        });
    }
    Ok(Forked {
        records,
        repeats_undone,
    })
}

/// Whether a run with this journal would be paused.
fn is_paused(records: &[Record]) -> bool {
    let mut undos = UndoFold::default();
    let mut is_paused = false;
    for Record { body, .. } in records {
        is_paused = match body {
            Body::PauseRequested(_) | Body::Paused(_) => true,
            Body::ResumeRequested(_) | Body::Resumed(_) => false,
            body => is_paused && body.terminal().is_none() && !undos.ends_pause(body),
        };
        undos.fold(body);
    }
    is_paused
}
