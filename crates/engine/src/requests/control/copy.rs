//! Copies of journals, with which revived and forked runs begin.
//!
//! One commit creates the copy with all its rows: open timers and rpcs, the row that names the
//! latest generation, and the row in lists.

use everstep_inspect::{ChildView, Overview};
use everstep_machine::{CannotFork, ForkExtent, ForkPlan, fork};
use everstep_model::record::{Created, ForkReason};
use everstep_model::{
    Body, Entry, Generation, Record, RecordFeed, RecordNumber, RunId, RunStatus, Seed, StreamName,
    StreamNumber,
};
use everstep_store::{
    Commit, CreateCommit, GenerationRow, Outcome, Refusal, Row, StoreError, StreamRef, TimerRow,
};

use super::super::start::list_row;
use super::controller::Controller;
use super::done::{Effect, RequestOrigin};
use super::run_state::RunState;
use crate::commit::projection::{self, Cause, Origin};
use crate::commit::{PostCommit, position_key, position_row};
use crate::error::{ControlError, UnknownOperation, UnreadableJournal, WrongState};

impl Controller {
    /// Returns the records of a copy of a run's journal.
    pub(super) fn copy_of(
        &self,
        state: &RunState,
        extent: ForkExtent,
        reason: ForkReason,
        target: (RunId, Generation),
        origin: &RequestOrigin,
    ) -> Result<Vec<Record>, ControlError> {
        let row = &state.row;
        let plan = ForkPlan {
            source: (row.id.clone(), row.generation),
            began: row.created_at,
            target,
            extent,
            by: origin.by.clone(),
            now: self.parts.node.now(),
            mark: Seed(self.parts.node.runtime.random()),
        };
        let forked = fork(&state.journal, reason, &plan);
        forked
            .map(|forked| forked.records)
            .map_err(|cannot| cannot_fork(&row.id, cannot))
    }

    /// Creates a journal with these records, and starts its execution.
    pub(super) async fn create_copy(
        &self,
        state: &RunState,
        (run, generation): (RunId, Generation),
        records: Vec<Record>,
        revives: bool,
    ) -> Result<Copied, ControlError> {
        let name = StreamName::of_run(&run, generation);
        let now = self.parts.node.now();
        let mut commit = CreateCommit::new(name.clone(), now);
        let Some(Body::Created(created)) = records.first().map(|first| &first.body) else {
            return Err(cannot_fork(&run, CannotFork::NoBeginning));
        };
        let created = created.clone();
        let timers = open_rows(&mut commit, &records);
        let origin = Origin {
            identity: Some(created.identity()),
            parent: None,
            trace: created.trace,
        };
        let cause = Cause {
            stream: StreamNumber(0),
            run: &run,
            generation,
            origin: &origin,
        };
        let open = children_of(&records);
        commit.rows.put.extend(cause.effects_of_copy(&open));
        commit.run = Some(list_row(&run, generation, &created, now).into());
        commit.ready = true;
        commit.claim = self.parts.claim_new(&created.workflow, created.version);
        if revives {
            commit.supersedes = Some(state.head.number);
            commit.rows.put.push(Row::Generation(GenerationRow {
                run: run.clone(),
                generation,
                stream: StreamNumber(0),
            }));
        }
        let copied = records.len() as u64;
        for &feed in &self.parts.node.settings.feeds {
            // A mirror needs the whole journal; failures and emissions are not repeated.
            if feed != RecordFeed::Records
                && let Ok(key) = position_key(feed, &name)
            {
                commit.rows.put.push(position_row(key, copied));
            }
        }
        commit.records = records;
        // Emissions of the original are not repeated.
        let commit = Commit::from(commit);
        let effects = PostCommit::of_copy(&commit, timers);
        match self.parts.committer.commit(commit).await? {
            Outcome::Committed { stream, taken, .. } => {
                self.parts.post_commit.apply(stream, effects);
                let status = match taken {
                    Some(_) => RunStatus::Running,
                    None => RunStatus::Queued,
                };
                self.dispatcher.wake(stream, taken);
                Ok(Copied::Created(status))
            }
            Outcome::Duplicate { .. } => Ok(Copied::Created(RunStatus::Running)),
            Outcome::Refused(refusal) => {
                let is_same = self.is_copy(name, &created).await?;
                Ok(Copied::Refused { refusal, is_same })
            }
        }
    }

    /// Returns whether the journal of that name began as the same copy, including location and
    /// edit.
    async fn is_copy(&self, name: StreamName, created: &Created) -> Result<bool, StoreError> {
        let node = &self.parts.node;
        let Some(head) = node.store.head(StreamRef::Name(name)).await? else {
            return Ok(false);
        };
        let first = node.first_record(head.number).await?;
        let first = first.map(|entry| entry.record.body);
        Ok(matches!(first, Some(Body::Created(found)) if found.forked_from == created.forked_from))
    }
}

/// The outcome of creating a copy.
pub(super) enum Copied {
    Created(RunStatus),
    Refused {
        refusal: Refusal,
        /// Whether the existing stream began as the same copy.
        is_same: bool,
    },
}

/// Returns the effect of a copy: it is executed at once, or waits for a worker.
pub(super) fn effect_of(status: RunStatus) -> Effect {
    match status {
        RunStatus::Queued => Effect::NeedsWorker,
        _ => Effect::Done,
    }
}

/// Adds the rows of open operations in a copied journal, and returns its timers.
fn open_rows(commit: &mut CreateCommit, records: &[Record]) -> Vec<TimerRow> {
    let rows = projection::rows_of_journal(records.iter(), StreamNumber(0));
    let timers = rows.iter().filter_map(|row| match row {
        Row::Timer(timer) => Some(timer.clone()),
        _ => None,
    });
    let timers = timers.collect();
    commit.rows.put.extend(rows);
    timers
}

/// Returns the children that a copied journal waits for.
fn children_of(records: &[Record]) -> Vec<ChildView> {
    let mut overview = Overview::new();
    for (index, record) in records.iter().enumerate() {
        overview.fold(&Entry {
            number: RecordNumber(index as u64),
            record: record.clone(),
        });
    }
    overview.children
}

fn cannot_fork(run: &RunId, cannot: CannotFork) -> ControlError {
    let (run, detail) = (run.clone(), cannot.to_string());
    match cannot {
        CannotFork::UnknownOperation(location) => UnknownOperation { run, location }.into(),
        CannotFork::NoBeginning => UnreadableJournal { run, detail }.into(),
        CannotFork::StillRunning(_)
        | CannotFork::NotAStep(_)
        | CannotFork::InsideLoop(_)
        | CannotFork::Compacted(_)
        | CannotFork::Undone(_)
        | CannotFork::NotEnded
        | CannotFork::WrongStatus(_) => WrongState { run, detail }.into(),
    }
}
