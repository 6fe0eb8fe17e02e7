//! What each record of the journal means to a running execution.

use std::collections::VecDeque;

use everstep_model::record::{TimerFired, TimerPurpose};
use everstep_model::{Body, Entry};

use super::divergence::Halt;
use super::execution::Replay;
use super::operations::{EventTaken, Kind, Resolution};
use super::rollback::is_about_undo;
use super::state::Phase;
use super::{branches, children, control, held, rpcs, steps, waits};
use crate::undo::requests_end;

/// Folds the records of earlier passes, and returns those of the current pass.
pub(super) fn earlier_passes(journal: Vec<Entry>, replay: &mut Replay) -> Vec<Entry> {
    let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
    let Some(last_retry) = journal.iter().rposition(is_retry) else {
        return journal;
    };
    let mut earlier = VecDeque::from(journal);
    let current = earlier.split_off(last_retry + 1);
    for entry in earlier {
        replay.context.position.note_known(&entry);
        replay.loops.cross_gap(&entry, &mut replay.context);
        count_folded(&entry, replay);
        let run = &mut replay.context.run;
        match &entry.record.body {
            Body::Created(created) => run.create(created, &entry),
            Body::ExecutionRetried(retried) => {
                run.pass = retried.attempt + 1;
                run.retry_at = Some(retried.retry_at);
            }
            _ => {}
        }
        replay.rollback.log.fold(&entry.record.body);
        fold_earlier(&entry, replay);
    }
    replay.loops.iterations.begin_pass();
    replay.rollback.log.begin_pass();
    replay.context.state.phase = Phase::Backoff;
    current.into()
}

/// Takes in a record of an earlier pass, or of the pause before the next one.
fn fold_earlier(entry: &Entry, replay: &mut Replay) {
    replay.loops.earlier.fold(&entry.record.body);
    replay.context.earlier.fold(entry, &mut replay.event_queue);
}

/// Folds one record. Returns whether the function starts.
pub(super) fn fold(entry: Entry, replay: &mut Replay) -> bool {
    if !replay.loops.cross_gap(&entry, &mut replay.context) {
        return false;
    }
    count_folded(&entry, replay);
    let (body, state) = (&entry.record.body, &mut replay.context.state);
    replay.rollback.fold_done(body, &state.phase);
    if body.is_scripted() {
        if let Err(divergence) = replay.context.script.check_reached(entry.number) {
            state.halt(Halt::Diverged(divergence));
        }
        fold_scripted(body, replay);
        return false;
    }
    if requests_end(body) && held::is_passing(&replay.context) {
        replay.context.state.held.push_back(entry);
        return false;
    }
    apply(entry, replay)
}

/// Applies a record that is not a line of the script. Returns whether the function starts.
pub(super) fn apply(entry: Entry, replay: &mut Replay) -> bool {
    match replay.context.state.phase {
        Phase::New => return fold_first(&entry, replay),
        Phase::Backoff => return fold_in_backoff(entry, replay),
        Phase::Running | Phase::Returned => fold_running(entry, replay),
        Phase::Broken(_) => fold_broken(&entry.record.body, replay),
        Phase::Ended(_) => {}
    }
    false
}

fn count_folded(entry: &Entry, replay: &mut Replay) {
    replay.context.position.fold(entry);
    replay.loops.fold(entry, &replay.rollback.calling_scopes);
}

/// Folds a line of the script. Some operations wait until their line is durable.
fn fold_scripted(body: &Body, replay: &mut Replay) {
    let context = &mut replay.context;
    match body {
        Body::StepStarted(record) => steps::fold_started(record, context),
        Body::RaceWon(record) if context.state.is_running() => {
            branches::fold_race_won(&record.location, context);
        }
        Body::LoopAdvanced(record) => replay.loops.fold_advanced(record, context),
        Body::Removed(record) => replay.removals.fold(record, context),
        _ => {}
    }
}

fn fold_first(entry: &Entry, replay: &mut Replay) -> bool {
    let Body::Created(created) = &entry.record.body else {
        let message = "the journal does not begin with `created`";
        replay.context.state.halt(Halt::Damaged(message.to_owned()));
        return false;
    };
    replay.context.run.create(created, entry);
    replay.context.state.phase = Phase::Running;
    true
}

fn fold_in_backoff(entry: Entry, replay: &mut Replay) -> bool {
    fold_earlier(&entry, replay);
    let (event_queue, rollback, context) = (
        &mut replay.event_queue,
        &replay.rollback,
        &mut replay.context,
    );
    match entry.record.body {
        Body::TimerFired(fired) if fired.purpose == TimerPurpose::ExecutionRetry => {
            context.run.retry_at = None;
            context.state.phase = Phase::Running;
            return true;
        }
        // The function is executed once more and ends.
        Body::CancelRequested(record) => {
            context.state.cancellation.get_or_insert(record);
            context.state.phase = Phase::Running;
            return true;
        }
        Body::DeadlinePassed(passed) => {
            control::pass_deadline(passed.deadline, rollback, context);
        }
        Body::ForcedFailure(record) => {
            control::force_failure(*record, rollback, event_queue, context);
        }
        body => context.state.fold(&body),
    }
    false
}

fn fold_running(entry: Entry, replay: &mut Replay) {
    let time = entry.record.time;
    let (event_queue, rollback, context) = (
        &mut replay.event_queue,
        &replay.rollback,
        &mut replay.context,
    );
    match entry.record.body {
        Body::StepStarted(record) => steps::fold_started(&record, context),
        Body::StepCompleted(record) => steps::fold_completed(record, context),
        Body::StepFailed(record) => steps::fold_failed(*record, context),
        Body::TimerFired(record) => fold_timer(&record, replay),
        Body::Event(record) => {
            let event = EventTaken::new(record, entry.number, time);
            if let Some((op, events)) = event_queue.deliver(event) {
                waits::resolve(op, events, context);
            }
        }
        Body::RpcAnswered(record) => rpcs::fold_answered(*record, context),
        Body::ChildFinished(record) => children::fold_finished(*record, context),
        Body::DeadlinePassed(record) => {
            control::pass_deadline(record.deadline, rollback, context);
        }
        // The executor builds a new execution from the journal after it has written this.
        Body::ExecutionRetried(_) => context.state.phase = Phase::Backoff,
        Body::Created(_) => {
            let message = "the run is created twice";
            context.state.halt(Halt::Damaged(message.to_owned()));
        }
        Body::CancelRequested(record) => control::cancel(record, rollback, event_queue, context),
        Body::StepSkipped(record) => {
            control::resolve_step(&record.location, record.result, event_queue, context);
        }
        Body::StepEdited(record) => {
            control::resolve_step(&record.location, record.result, event_queue, context);
        }
        Body::ForcedFailure(record) => {
            control::force_failure(*record, rollback, event_queue, context);
        }
        body if is_about_undo(&body) => fold_undo(&body, replay),
        // `turn` looks ahead for the end of a pause; a parked run continues when its code fits.
        // `fold` has compared scripted records, and journals contain no messages of user streams.
        body => context.state.fold(&body),
    }
}

fn fold_timer(record: &TimerFired, replay: &mut Replay) {
    let context = &mut replay.context;
    let location = record.location.as_ref();
    let Some((op, operation)) = location.and_then(|at| context.operations.at(at)) else {
        return;
    };
    match (record.purpose, &operation.kind) {
        (TimerPurpose::Sleep, Kind::Sleep { .. }) => {
            context.operations.resolve(op, Resolution::Slept);
        }
        (TimerPurpose::Retry, Kind::Step(_)) => {
            steps::fold_retry_timer(op, record.due, context);
        }
        (TimerPurpose::Wait, Kind::Wait { .. }) => {
            waits::time_out(op, &mut replay.event_queue, context);
        }
        (TimerPurpose::Rpc, Kind::Rpc { .. }) => rpcs::end(op, None, context),
        (TimerPurpose::Child, Kind::Child(_)) => {
            children::fold_timed_out(op, record.due, context);
        }
        // A timer of an operation that has ended, or of the run itself.
        (
            TimerPurpose::Sleep
            | TimerPurpose::Child
            | TimerPurpose::Undo
            | TimerPurpose::Retry
            | TimerPurpose::Wait
            | TimerPurpose::Rpc
            | TimerPurpose::ExecutionRetry
            | TimerPurpose::Deadline
            | TimerPurpose::Expiry,
            _,
        ) => {}
    }
}

fn fold_undo(body: &Body, replay: &mut Replay) {
    let has_gone = replay.loops.iterations.has_forgotten();
    let context = &mut replay.context;
    replay.rollback.fold_undo(body, has_gone, context);
}

/// Folds a record of a run whose code was dropped. Only its rollback continues.
fn fold_broken(body: &Body, replay: &mut Replay) {
    if is_about_undo(body) {
        fold_undo(body, replay);
        replay.context.operations.pending.clear();
        return;
    }
    let context = &mut replay.context;
    match body {
        Body::StepCompleted(_) | Body::StepFailed(_) => {
            let open = body.location().and_then(|at| context.operations.at(at));
            if let Some((op, _)) = open {
                context.operations.close(op);
            }
        }
        body => context.state.fold(body),
    }
}
