//! Imports runs: creates a journal with records that another store has exported, unchanged.

use everstep_inspect::Overview;
use everstep_model::record::{Created, ForkReason};
use everstep_model::{
    Body, Entry, Generation, RecordNumber, RunId, RunStatus, StreamName, StreamNumber, limits,
};
use everstep_store::{
    Commit, CreateCommit, GenerationRow, Guard, IdempotencyRow, Outcome, Refusal, Row, RowKey,
};

use super::super::start::list_row;
use super::controller::Controller;
use super::copy::effect_of;
use super::done::{Done, Effect};
use super::run_state::unexpected;
use crate::commit::PostCommit;
use crate::error::{ControlError, InvalidOptions, WrongState};

/// A journal to import, as [`crate::Engine::journal`] returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportRun {
    /// The id of the run.
    pub run: RunId,
    /// The generation whose journal this is. `None` means the one that the journal implies.
    pub generation: Option<Generation>,
    /// All records of the journal.
    pub journal: Vec<Entry>,
}

impl Controller {
    /// Creates a run with this journal. A run that has not ended continues.
    pub(crate) async fn import(&self, import: ImportRun) -> Result<Done, ControlError> {
        self.parts.committer.check_open()?;
        let ImportRun {
            run,
            generation,
            journal,
        } = import;
        let created = beginning(&journal)?.clone();
        let generation = generation.unwrap_or_else(|| generation_of(&run, &created));
        let name = StreamName::of_run(&run, generation);
        let overview = Overview::of(&journal);
        let mut commit = CreateCommit::new(name.clone(), self.parts.node.now());
        commit.supersedes = self.superseded(&run, generation, &mut commit).await?;
        let times = journal.first().zip(journal.last());
        let times = times.map(|(first, last)| (first.record.time, last.record.time));
        let (began, changed) = times.unwrap_or((commit.now, commit.now));
        let mut row = list_row(&run, generation, &created, began);
        commit.records = journal.into_iter().map(|entry| entry.record).collect();
        let mut timers = Vec::new();
        if overview.end.is_some() {
            (row.status, row.updated_at) = (overview.status(), changed);
            commit.close = true;
        } else {
            timers = self.open_operations(&mut commit, &run, generation, &created);
            commit.ready = true;
            commit.claim = self.parts.claim_new(&created.workflow, created.version);
        }
        if let Some(key) = &created.idempotency_key {
            keep_key(&mut commit, &created, key, &name);
        }
        self.skip_feeds(&mut commit, &name);
        let status = row.status;
        commit.run = Some(row.into());
        let has_ended = commit.close;
        let commit = Commit::from(commit);
        let effects = PostCommit::of_copy(&commit, timers);
        match self.parts.committer.commit(commit).await? {
            Outcome::Committed { stream, taken, .. } => {
                self.parts.post_commit.apply(stream, effects);
                tracing::info!(%run, %generation, "run imported");
                let (status, effect) = match (has_ended, taken) {
                    (true, _) => (status, Effect::Done),
                    (false, Some(_)) => (RunStatus::Running, Effect::Done),
                    (false, None) => (RunStatus::Queued, effect_of(RunStatus::Queued)),
                };
                if !has_ended {
                    self.dispatcher.wake(stream, taken);
                }
                Ok(Done {
                    run,
                    generation,
                    status,
                    effect,
                })
            }
            Outcome::Duplicate { .. } => Ok(Done {
                run,
                generation,
                status,
                effect: Effect::Done,
            }),
            Outcome::Refused(Refusal::Exists(_)) => Err(exists(run)),
            Outcome::Refused(Refusal::RowPresent(row)) => match *row {
                Row::Idempotency(row) => Err(wrong_state(
                    run,
                    format!("its idempotency key {:?} belongs to another run", row.key),
                )),
                _ => Err(exists(run)),
            },
            Outcome::Refused(refusal) => Err(unexpected(&run, &refusal)),
        }
    }

    /// Returns the stream of the generation before, which must have been imported.
    async fn superseded(
        &self,
        run: &RunId,
        generation: Generation,
        commit: &mut CreateCommit,
    ) -> Result<Option<StreamNumber>, ControlError> {
        if generation == Generation::FIRST {
            return Ok(None);
        }
        let latest = self.parts.node.latest(run).await?;
        match latest {
            Some((head, row)) if row.generation.next() == generation && head.closed => {
                commit.rows.put.push(Row::Generation(GenerationRow {
                    run: run.clone(),
                    generation,
                    stream: StreamNumber(0),
                }));
                Ok(Some(head.number))
            }
            Some((_, row)) if row.generation >= generation => Err(exists(run.clone())),
            _ => Err(wrong_state(
                run.clone(),
                format!("import the generation before {generation} first"),
            )),
        }
    }
}

/// Checks that records are a whole journal, and returns its beginning.
fn beginning(journal: &[Entry]) -> Result<&Created, ControlError> {
    let Some(Body::Created(created)) = journal.first().map(|first| &first.record.body) else {
        return Err(invalid("it does not begin with the record `created`"));
    };
    created.input.check_size()?;
    for (index, entry) in journal.iter().enumerate() {
        let body = &entry.record.body;
        if entry.number != RecordNumber(index as u64) {
            let number = entry.number;
            return Err(invalid(format!(
                "record {index} is missing before {number}; a run whose loops have dropped records cannot be imported"
            )));
        }
        let is_first = index == 0;
        let is_last = index + 1 == journal.len();
        let fits = match body {
            Body::Created(_) => is_first,
            Body::Data(_) => false,
            body => is_last || body.terminal().is_none(),
        };
        if !fits {
            return Err(invalid(format!("record {index} does not belong there")));
        }
    }
    if created.tags.len() > limits::TAGS_MAX {
        return Err(invalid("it has too many tags"));
    }
    Ok(created)
}

/// Returns the generation whose journal begins like this: a revival names its predecessor.
fn generation_of(run: &RunId, created: &Created) -> Generation {
    match &created.forked_from {
        Some(from) if from.run == *run && from.reason != ForkReason::Fork => from.generation.next(),
        _ => Generation::FIRST,
    }
}

/// Makes the idempotency key of the run refer to it.
fn keep_key(commit: &mut CreateCommit, created: &Created, key: &str, name: &StreamName) {
    let key_of = RowKey::Idempotency(created.workflow.clone(), key.to_owned());
    commit.guards.push(Guard::RowAbsent(key_of));
    commit.rows.put.push(Row::Idempotency(IdempotencyRow {
        workflow: created.workflow.clone(),
        key: key.to_owned(),
        stream: name.clone(),
    }));
}

fn invalid(detail: impl std::fmt::Display) -> ControlError {
    InvalidOptions(format!("this is not the journal of a run: {detail}")).into()
}

fn exists(run: RunId) -> ControlError {
    wrong_state(run, "it exists already; delete it first".to_owned())
}

fn wrong_state(run: RunId, detail: String) -> ControlError {
    WrongState { run, detail }.into()
}
