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
use crate::commit::projection::{Cause, OpenRows, Origin};
use crate::commit::{PostCommit, position_key, position_row};
use crate::error::{
    ControlError, JournalTooLarge, UnknownOperation, UnreadableJournal, WrongState,
};

impl Controller {
    /// Returns the records of a copy of a run's journal.
    pub(super) async fn copy_of(
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
        let journal = self.journal_to_copy(state, &plan.extent).await?;
        let forked = fork(&journal, reason, &plan);
        forked
            .map(|forked| forked.records)
            .map_err(|cannot| cannot_fork(&row.id, cannot))
    }

    async fn journal_to_copy(
        &self,
        state: &RunState,
        extent: &ForkExtent,
    ) -> Result<Vec<Entry>, ControlError> {
        let (node, stream) = (&self.parts.node, state.head.number);
        if let ForkExtent::Beginning(_) = extent {
            return Ok(node.first_record(stream).await?.into_iter().collect());
        }
        let journal = node.read_whole(stream).await?;
        let too_large = || JournalTooLarge {
            run: state.row.id.clone(),
            bytes_max: node.settings.journal_bytes_max,
        };
        journal.ok_or_else(|| too_large().into())
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
        commit.records = records;
        let timers = self.open_operations(&mut commit, &run, generation, &created);
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
        self.skip_feeds(&mut commit, &name);
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

    /// Adds the rows of open operations in the records of a new journal, and returns its timers.
    /// Children that it waits for are started, unless they exist.
    pub(super) fn open_operations(
        &self,
        commit: &mut CreateCommit,
        run: &RunId,
        generation: Generation,
        created: &Created,
    ) -> Vec<TimerRow> {
        let rows = OpenRows::of(commit.records.iter(), StreamNumber(0)).into_rows();
        let timers = rows.iter().filter_map(|row| match row {
            Row::Timer(timer) => Some(timer.clone()),
            _ => None,
        });
        let timers = timers.collect();
        commit.rows.put.extend(rows);
        let origin = Origin {
            identity: Some(created.identity()),
            parent: None,
            trace: created.trace,
        };
        let cause = Cause {
            stream: StreamNumber(0),
            run,
            generation,
            origin: &origin,
        };
        let open = children_of(&commit.records);
        commit.rows.put.extend(cause.effects_of_copy(&open));
        timers
    }

    /// Keeps the feeds of failures and emissions from repeating those in the records of a new
    /// journal. A mirror needs the whole journal.
    pub(super) fn skip_feeds(&self, commit: &mut CreateCommit, name: &StreamName) {
        let copied = commit.records.len() as u64;
        for &feed in &self.parts.node.settings.feeds {
            if feed != RecordFeed::Records
                && let Ok(key) = position_key(feed, name)
            {
                commit.rows.put.push(position_row(key, copied));
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
