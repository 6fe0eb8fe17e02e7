//! Revives runs. A terminal status is final, so the run continues as a new generation whose journal
//! begins as a copy.
//!
//! One commit creates the copy with all its rows: open timers and rpcs, the row that names the latest
//! generation, and the row in lists.

use std::sync::Arc;

use everstep_inspect::{ChildView, Overview};
use everstep_machine::{CannotFork, ForkExtent, ForkPlan, fork};
use everstep_model::record::{Created, ForkReason};
use everstep_model::{
    Body, Entry, Generation, Location, Payload, Record, RecordNumber, RunId, RunStatus, Seed,
    StreamName, StreamNumber,
};
use everstep_store::{
    Commit, CreateCommit, GenerationRow, Outcome, Refusal, Row, RunRow, StoreError, StreamRef,
    TimerRow,
};

use super::{Because, Done, Effect, RequestOrigin, Sight};
use crate::core::Core;
use crate::effects::Effects;
use crate::error::{ControlError, UnknownOperation, UnreadableJournal, WrongState};
use crate::outbox::Cause;
use crate::projection;

/// A way to revive a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Revival {
    /// Restarts the run from its beginning. A run in progress is terminated first.
    Restart,
    /// Restarts the run from one of its operations. A run in progress is terminated first.
    RestartFrom {
        /// The operation. A location inside a loop means the whole loop.
        at: Location,
        /// The result that this step has in the new generation.
        edited: Option<Payload>,
    },
    /// Continues the run where it failed or was ended.
    Recover,
    /// Retries a failed rollback.
    RetryRollback,
}

impl Revival {
    fn reason(&self) -> ForkReason {
        match self {
            Self::Restart | Self::RestartFrom { .. } => ForkReason::Restart,
            Self::Recover => ForkReason::Recover,
            Self::RetryRollback => ForkReason::RetryRollback,
        }
    }

    /// Returns why the revival does not apply to a run with this status.
    fn does_not_apply(&self, status: RunStatus) -> Option<Because> {
        let ended_badly = matches!(
            status,
            RunStatus::Failed
                | RunStatus::RollbackFailed
                | RunStatus::Cancelled
                | RunStatus::Terminated
        );
        match self {
            Self::Restart | Self::RestartFrom { .. } => None,
            Self::Recover => (!ended_badly).then_some(Because::NotFailed),
            Self::RetryRollback => {
                (status != RunStatus::RollbackFailed).then_some(Because::RollbackDidNotFail)
            }
        }
    }
}

impl Core {
    /// Revives a run as a new generation.
    pub(crate) async fn revive(
        self: &Arc<Self>,
        run: &RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.check_open()?;
        if let Revival::RestartFrom {
            edited: Some(result),
            ..
        } = &revival
        {
            result.check_size()?;
        }
        loop {
            let sight = self.sight(run).await?;
            if let Some(because) = revival.does_not_apply(sight.overview.status()) {
                return Ok(sight.nothing(because));
            }
            let records = self.plan(&sight, &revival, &origin)?;
            if sight.overview.end.is_none() {
                self.terminate(run, restarted(&origin)).await?;
                continue;
            }
            let target = (run.clone(), sight.row.generation.next());
            match self.create_copy(&sight, target, records, true).await? {
                Copied::Created(status) => {
                    let mut done = Done::of(&sight.row, status, effect_of(status));
                    done.generation = sight.row.generation.next();
                    return Ok(done);
                }
                // The request is repeated, or the run was revived or deleted concurrently.
                Copied::Refused { is_same: true, .. } => {
                    let (_, row) = self.find(run).await?;
                    return Ok(Done::of(&row, row.status, Effect::Done));
                }
                Copied::Refused { is_same: false, .. } => {}
            }
        }
    }

    fn plan(
        &self,
        sight: &Sight,
        revival: &Revival,
        origin: &RequestOrigin,
    ) -> Result<Vec<Record>, ControlError> {
        let row = &sight.row;
        let extent = match revival {
            Revival::Restart => ForkExtent::Beginning(self.newest_version(&row.workflow)),
            Revival::RestartFrom { at, edited } => ForkExtent::Before {
                at: at.clone(),
                edited: edited.clone(),
            },
            Revival::Recover => ForkExtent::Recovered,
            Revival::RetryRollback => ForkExtent::RollbackRetried,
        };
        let target = (row.id.clone(), row.generation.next());
        self.copy_of(sight, extent, revival.reason(), target, origin)
    }

    /// Returns the records of a copy of a run's journal.
    pub(super) fn copy_of(
        &self,
        sight: &Sight,
        extent: ForkExtent,
        reason: ForkReason,
        target: (RunId, Generation),
        origin: &RequestOrigin,
    ) -> Result<Vec<Record>, ControlError> {
        let row = &sight.row;
        let plan = ForkPlan {
            source: (row.id.clone(), row.generation),
            began: row.created_at,
            target,
            extent,
            by: origin.by.clone(),
            now: self.runtime.now(),
            mark: Seed(self.runtime.random()),
        };
        let forked = fork(&sight.journal, reason, &plan);
        let forked = forked.map_err(|cannot| cannot_fork(&row.id, cannot))?;
        Ok(forked.records)
    }

    /// Creates a journal with these records, and starts its execution.
    pub(super) async fn create_copy(
        self: &Arc<Self>,
        sight: &Sight,
        (run, generation): (RunId, Generation),
        records: Vec<Record>,
        revives: bool,
    ) -> Result<Copied, ControlError> {
        let name = StreamName::of_run(&run, generation);
        let now = self.runtime.now();
        let mut commit = CreateCommit::new(name.clone(), now);
        let Some(Body::Created(created)) = records.first().map(|first| &first.body) else {
            return Err(cannot_fork(&run, CannotFork::NoBeginning));
        };
        let created = created.clone();
        let timers = open_rows(&mut commit, &records);
        let cause = Cause {
            stream: StreamNumber(0),
            run: &run,
            generation,
            identity: Some(created.identity()),
            parent: None,
            trace: created.trace,
        };
        let open = children_of(&records);
        commit.rows.put.extend(cause.effects_of_copy(&open));
        commit.run = Some(list_row(&run, generation, &created, now).into());
        commit.ready = true;
        if self.has_room(&created.workflow, created.version) {
            commit.claim = Some(self.take());
        }
        if revives {
            commit.supersedes = Some(sight.head.number);
            commit.rows.put.push(Row::Generation(GenerationRow {
                run: run.clone(),
                generation,
                stream: StreamNumber(0),
            }));
        }
        commit.records = records;
        // Emissions of the original are not repeated.
        let commit = Commit::from(commit);
        let effects = Effects::of_copy(&commit, timers);
        match self.committer.commit(commit).await? {
            Outcome::Committed { stream, taken, .. } => {
                self.committed(stream, effects);
                let status = match taken {
                    Some(_) => RunStatus::Running,
                    None => RunStatus::Queued,
                };
                self.woken(stream, taken);
                Ok(Copied::Created(status))
            }
            Outcome::Duplicate { .. } => Ok(Copied::Created(RunStatus::Running)),
            Outcome::Refused(refusal) => {
                let is_same = self.is_copy(&name, &created).await?;
                Ok(Copied::Refused { refusal, is_same })
            }
        }
    }

    /// Returns whether the journal of that name began as the same copy, including location and edit.
    async fn is_copy(&self, name: &StreamName, created: &Created) -> Result<bool, StoreError> {
        let Some(head) = self.store.head(StreamRef::Name(name.clone())).await? else {
            return Ok(false);
        };
        let first = self.read_page(head.number, RecordNumber(0), 1).await?;
        let first = first.first().map(|entry| &entry.record.body);
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

/// A copy is executed at once, or waits for a worker.
pub(super) fn effect_of(status: RunStatus) -> Effect {
    match status {
        RunStatus::Queued => Effect::NeedsWorker,
        _ => Effect::Done,
    }
}

fn restarted(origin: &RequestOrigin) -> RequestOrigin {
    RequestOrigin {
        by: origin.by.clone(),
        reason: origin.reason.clone().or(Some("restarted".to_owned())),
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

fn list_row(
    run: &RunId,
    generation: Generation,
    created: &Created,
    now: everstep_model::Timestamp,
) -> RunRow {
    RunRow {
        id: run.clone(),
        generation,
        workflow: created.workflow.clone(),
        version: created.version,
        status: RunStatus::Queued,
        tags: created.tags.clone(),
        created_at: now,
        updated_at: now,
    }
}

pub(super) fn cannot_fork(run: &RunId, cannot: CannotFork) -> ControlError {
    match cannot {
        CannotFork::UnknownOperation(location) => UnknownOperation {
            run: run.clone(),
            location,
        }
        .into(),
        CannotFork::NoBeginning => UnreadableJournal {
            run: run.clone(),
            detail: cannot.to_string(),
        }
        .into(),
        CannotFork::StillRunning(_)
        | CannotFork::NotAStep(_)
        | CannotFork::InsideLoop(_)
        | CannotFork::Compacted(_)
        | CannotFork::Undone(_)
        | CannotFork::NotEnded
        | CannotFork::WrongStatus(_) => WrongState {
            run: run.clone(),
            detail: cannot.to_string(),
        }
        .into(),
    }
}
