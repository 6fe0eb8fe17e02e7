//! Builds a copy: selects the records, renumbers them, and resumes the copy if it would be paused.

use everstep_model::record::{ForkReason, ResumeRequested};
use everstep_model::{Body, Entry, Record};

use super::events::LaterEvents;
use super::kept::Kept;
use super::plan::{CannotFork, ForkExtent, ForkPlan, Forked};
use super::{compacted, copy, events, recover, select};
use crate::undo::UndoFold;

/// Copies a journal as planned.
///
/// # Errors
/// Returns why the plan does not fit the journal.
pub fn fork(journal: &[Entry], reason: ForkReason, plan: &ForkPlan) -> Result<Forked, CannotFork> {
    let Some(Body::Created(created)) = journal.first().map(|first| &first.record.body) else {
        return Err(CannotFork::NoBeginning);
    };
    let (mut repeats_undone, mut keeps_keys) = (false, false);
    let mut kept = match &plan.extent {
        ForkExtent::Beginning(_) => journal.iter().take(1).map(Kept::of).collect(),
        ForkExtent::Before { at, edited } => select::before(journal, at, edited.as_ref(), plan)?,
        ForkExtent::End => select::whole(journal)?,
        ForkExtent::Recovered => {
            let kept;
            (kept, repeats_undone) = recover::recovered(journal)?;
            // Steps that were undone must run again, so they need new keys.
            keeps_keys = !repeats_undone;
            kept
        }
        ForkExtent::RollbackRetried => {
            keeps_keys = true;
            recover::rollback_retried(journal)?
        }
    };
    compacted::name_gone_iterations(journal, &mut kept);
    let later = later_events(&plan.extent, reason);
    events::keep(journal, later, plan, &mut kept);
    compacted::keep_time_order(journal, &mut kept);
    let inherited = created.forked_from.as_ref().and_then(|from| from.keys_of);
    let keys_of = keeps_keys.then(|| inherited.unwrap_or(plan.source.1));
    let passed = |entry: &Entry| entry.record.body.passes_no_return();
    let origin = copy::CopyOrigin {
        reason,
        keys_of,
        no_return: match &plan.extent {
            ForkExtent::Beginning(_) | ForkExtent::Before { .. } => false,
            ForkExtent::End => created.no_return,
            ForkExtent::Recovered | ForkExtent::RollbackRetried => journal.iter().any(passed),
        },
    };
    let mut records = copy::copy(kept, origin, plan);
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

fn later_events(extent: &ForkExtent, reason: ForkReason) -> LaterEvents {
    match (extent, reason) {
        (ForkExtent::Beginning(_), _) | (ForkExtent::Before { .. }, ForkReason::Fork) => {
            LaterEvents::None
        }
        (ForkExtent::Before { .. }, _) => LaterEvents::NotTaken,
        (ForkExtent::End | ForkExtent::Recovered | ForkExtent::RollbackRetried, _) => {
            LaterEvents::All
        }
    }
}

/// Returns whether a run with this journal would be paused.
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
