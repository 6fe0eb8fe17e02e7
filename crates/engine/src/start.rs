//! Starting runs: the same id gives the same run, and says so.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::record::{Created, ParentLink};
use everstep_model::{
    Entry, Generation, Link, Name, Payload, Record, RecordNumber, RunId, RunStatus, Seed,
    StreamName, StreamNumber, TraceParent, limits,
};
use everstep_store::{
    Commit, CreateCommit, Guard, Hint, IdempotencyRow, Outcome, Refusal, Row, RowKey, RunRow,
    StreamRef,
};

use crate::core::Core;
use crate::dispatch::Claimed;
use crate::effects::Effects;
use crate::error::{EngineError, readable};
use crate::projection;

/// What to start.
#[derive(Clone, Debug)]
pub struct Start {
    /// The workflow.
    pub workflow: Name,
    /// The run's id; a random one if none is given.
    pub id: Option<RunId>,
    /// What it gets.
    pub input: Payload,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// A key that leads every start with it to one run of this workflow.
    pub idempotency_key: Option<String>,
    /// How long the run may take, counted from its creation; the workflow's own setting if none is given.
    pub deadline: Option<Duration>,
    /// How often the whole function may be retried; the workflow's own setting if none is given.
    pub execution_retries: Option<u32>,
    /// Refuse an id that exists instead of giving that run.
    pub strict: bool,
    /// The operation of another run that starts it and waits for its end.
    pub parent: Option<Link>,
    /// Who starts it, as far as known.
    pub by: Option<String>,
    /// The place in a trace from which it is started.
    pub trace: Option<TraceParent>,
}

impl Start {
    /// A start with nothing but the necessary.
    #[must_use]
    pub fn new(workflow: Name, input: Payload) -> Self {
        Self {
            workflow,
            id: None,
            input,
            tags: Vec::new(),
            idempotency_key: None,
            deadline: None,
            execution_retries: None,
            strict: false,
            parent: None,
            by: None,
            trace: None,
        }
    }
}

/// A run that exists now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The run.
    pub run: RunId,
    /// Its life.
    pub generation: Generation,
    /// Whether this start created it.
    pub created: bool,
    /// Its workflow.
    pub workflow: Name,
    /// The stream of its journal.
    pub stream: StreamNumber,
}

impl Core {
    pub(crate) async fn start(self: &Arc<Self>, start: Start) -> Result<Started, EngineError> {
        self.check_open()?;
        check(&start)?;
        let version = self.version_to_start(&start.workflow).await?;
        self.check_input(&start.workflow, version, &start.input)?;
        let id = match &start.id {
            Some(id) => id.clone(),
            None => self.random_id()?,
        };
        let (mut commit, record) = self.creation(&start, &id, version);
        let parts = projection::Parts {
            put: &mut commit.put,
            delete: &mut commit.delete,
            drop: &mut Vec::new(),
        };
        let timers = projection::project(&commit.records, StreamNumber(0), parts);
        let commit = Commit::from(commit);
        let effects = Effects::of(&id, &commit, timers);
        match readable(self.committer.commit(commit).await?)? {
            Outcome::Committed { stream, taken, .. } => {
                self.committed(stream, effects);
                let claimed = taken.map(|fence| Claimed {
                    stream,
                    run: id.clone(),
                    generation: Generation::FIRST,
                    workflow: start.workflow.clone(),
                    version,
                    fence,
                    mailbox: self.enter_memory(stream, fence),
                    takeovers: 0,
                });
                let first = Entry {
                    number: RecordNumber(0),
                    record,
                };
                match (claimed, self.worker(&start.workflow, version)) {
                    (Some(claimed), Some(worker)) => self.activate(&worker, claimed, vec![first]),
                    // Whoever offered it has gone while the run was being created.
                    (Some(claimed), None) => self.give_back(claimed).await,
                    // Another node may have room for it.
                    (None, _) if !self.store.describe().exclusive => {
                        self.bus.publish(Hint::Ready(stream));
                    }
                    (None, _) => {}
                }
                Ok(Started {
                    run: id,
                    generation: Generation::FIRST,
                    created: true,
                    workflow: start.workflow,
                    stream,
                })
            }
            Outcome::Duplicate { stream, .. } | Outcome::Refused(Refusal::Exists(stream)) => {
                self.existing(&start, StreamRef::Number(stream), id).await
            }
            Outcome::Refused(Refusal::RowPresent(row)) => match *row {
                Row::Idempotency(row) => {
                    self.existing(&start, StreamRef::Name(row.stream), id).await
                }
                Row::Timer(_)
                | Row::Rpc(_)
                | Row::Generation(_)
                | Row::Outbox(_)
                | Row::Stream(_)
                | Row::Producer(_)
                | Row::Shared(_) => Err(EngineError::UnknownRun(id)),
            },
            Outcome::Refused(_) => Err(EngineError::UnknownRun(id)),
        }
    }

    fn creation(&self, start: &Start, id: &RunId, version: u32) -> (CreateCommit, Record) {
        let now = self.runtime.now();
        let deadline = start.deadline;
        let deadline = deadline.or_else(|| self.deadline_of(&start.workflow, version));
        let name = StreamName::of_run(id, Generation::FIRST);
        let mut commit = CreateCommit::new(name.clone(), now);
        let record = Record {
            time: now,
            body: Created {
                workflow: start.workflow.clone(),
                version,
                input: start.input.clone(),
                seed: Seed(self.runtime.random()),
                tags: start.tags.clone(),
                deadline: deadline.map(|deadline| now.after(deadline)),
                execution_retries: start.execution_retries,
                idempotency_key: start.idempotency_key.clone(),
                parent: start.parent.clone().map(|parent| ParentLink {
                    run: parent.run,
                    generation: parent.generation,
                    location: parent.location,
                }),
                by: start.by.clone(),
                forked_from: None,
                mark: None,
                parent_identity: start.parent.as_ref().and_then(|parent| parent.identity),
                trace: start.trace,
            }
            .into(),
        };
        commit.records.push(record.clone());
        let row = RunRow {
            id: id.clone(),
            generation: Generation::FIRST,
            workflow: start.workflow.clone(),
            version,
            status: RunStatus::Queued,
            tags: start.tags.clone(),
            created_at: now,
            updated_at: now,
        };
        commit.run = Some(row.into());
        if let Some(key) = &start.idempotency_key {
            let key_of = RowKey::Idempotency(start.workflow.clone(), key.clone());
            commit.guards.push(Guard::RowAbsent(key_of));
            commit.put.push(Row::Idempotency(IdempotencyRow {
                workflow: start.workflow.clone(),
                key: key.clone(),
                stream: name,
            }));
        }
        commit.ready = true;
        if self.has_room(&start.workflow, version) {
            commit.claim = Some(self.take());
        }
        (commit, record)
    }

    async fn existing(
        &self,
        start: &Start,
        stream: StreamRef,
        id: RunId,
    ) -> Result<Started, EngineError> {
        let head = self.store.head(stream).await?;
        let Some(first) = head.and_then(|head| head.run) else {
            return Err(EngineError::UnknownRun(id));
        };
        let (head, row) = self.find(&first.id).await?;
        let stream = head.number;
        if start.strict {
            return Err(EngineError::RunExists(row.id));
        }
        if row.workflow != start.workflow {
            return Err(EngineError::OtherWorkflow {
                run: row.id,
                workflow: row.workflow,
                asked: start.workflow.clone(),
            });
        }
        Ok(Started {
            run: row.id,
            generation: row.generation,
            created: false,
            workflow: row.workflow,
            stream,
        })
    }

    pub(crate) fn random_id(&self) -> Result<RunId, EngineError> {
        let (a, b) = (self.runtime.random(), self.runtime.random());
        Ok(RunId::new(format!("{a:016x}{b:016x}"))?)
    }
}

fn check(start: &Start) -> Result<(), EngineError> {
    start.input.check_size()?;
    if start.tags.len() > limits::TAGS_MAX {
        return Err(EngineError::Options(format!(
            "a run may have {} tags, {} were given",
            limits::TAGS_MAX,
            start.tags.len()
        )));
    }
    let bad_tag = |tag: &&String| {
        tag.is_empty()
            || tag.chars().count() > limits::TAG_CHARS_MAX
            || tag.chars().any(char::is_control)
    };
    if let Some(tag) = start.tags.iter().find(bad_tag) {
        return Err(EngineError::Options(format!(
            "tag {tag:?} must have 1 to {} characters and no control characters",
            limits::TAG_CHARS_MAX
        )));
    }
    check_key("idempotency key", start.idempotency_key.as_deref())?;
    if start.deadline.is_some_and(|deadline| deadline.is_zero()) {
        return Err(EngineError::Options(
            "a deadline must be longer than zero".to_owned(),
        ));
    }
    Ok(())
}

/// Checks a key that becomes part of a row.
pub(crate) fn check_key(what: &str, key: Option<&str>) -> Result<(), EngineError> {
    match key {
        Some(key) if key.is_empty() || key.len() > limits::KEY_BYTES_MAX => {
            Err(EngineError::Options(format!(
                "the {what} must have 1 to {} bytes, it has {}",
                limits::KEY_BYTES_MAX,
                key.len()
            )))
        }
        _ => Ok(()),
    }
}
