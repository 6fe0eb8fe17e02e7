//! Starts runs. Starting an existing id returns the existing run.

use std::time::Duration;

use everstep_model::record::{Created, ParentLink};
use everstep_model::{
    ExecutorSeq, Generation, InvalidRunId, Link, Name, Payload, Record, RunId, RunStatus, Seed,
    StreamName, StreamNumber, Timestamp, TraceParent, limits,
};
use everstep_store::{
    Commit, CreateCommit, Fence, Guard, Hint, IdempotencyRow, Outcome, Refusal, Row, RowKey,
    RunRow, StreamRef,
};

use super::handler::Requests;
use crate::commit::{PostCommit, projection};
use crate::error::{InvalidOptions, OtherWorkflow, RunExists, StartError, UnknownRun, readable};
use crate::execution::Claimed;
use crate::node::Node;

/// A request to start a run.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct Start {
    pub workflow: Name,
    /// The id of the run. `None` generates a random one.
    pub id: Option<RunId>,
    pub input: Payload,
    /// Tags for lists and filters.
    pub tags: Vec<String>,
    /// All starts of this workflow with the same key return the same run.
    pub idempotency_key: Option<String>,
    /// How long the run may take from its creation. `None` uses the setting of the workflow.
    pub deadline: Option<Duration>,
    /// How often the whole function may be retried. `None` uses the setting of the workflow.
    pub execution_retries: Option<u32>,
    /// Whether an existing id is an error.
    pub strict: bool,
    /// The operation of the parent run that starts it and waits for its end.
    pub parent: Option<Link>,
    /// The actor, for the journal.
    pub by: Option<String>,
    /// The trace context of the start.
    pub trace: Option<TraceParent>,
}

impl Start {
    /// Creates a start with default options.
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

/// A run that was started, or existed already.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Started {
    pub run: RunId,
    pub generation: Generation,
    /// Whether this start created it.
    pub created: bool,
    pub workflow: Name,
    /// The stream of its journal.
    pub stream: StreamNumber,
}

impl Requests {
    pub(crate) async fn start(&self, start: Start) -> Result<Started, StartError> {
        let workers = &self.parts.workers;
        self.parts.committer.check_open()?;
        check(&start)?;
        let version = workers.version_to_start(&start.workflow).await?;
        workers.check_input(&start.workflow, version, &start.input)?;
        let id = match &start.id {
            Some(id) => id.clone(),
            None => random_run_id(&self.parts.node)?,
        };
        let (mut commit, record) = self.creation(&start, &id, version);
        let timers = projection::project(&commit.records, StreamNumber(0), &mut commit.rows);
        let commit = Commit::from(commit);
        let effects = PostCommit::of_run(&id, &commit, timers);
        match readable(self.parts.committer.commit(commit).await?)? {
            Outcome::Committed { stream, taken, .. } => {
                self.parts.post_commit.apply(stream, effects);
                tracing::info!(run = %id, workflow = %start.workflow, "run started");
                let started = Started {
                    run: id,
                    generation: Generation::FIRST,
                    created: true,
                    workflow: start.workflow,
                    stream,
                };
                self.execute(&started, version, taken, record).await;
                Ok(started)
            }
            Outcome::Duplicate { stream, .. } | Outcome::Refused(Refusal::Exists(stream)) => {
                self.existing(&start, StreamRef::Number(stream), id).await
            }
            Outcome::Refused(Refusal::RowPresent(row)) => match *row {
                Row::Idempotency(row) => {
                    self.existing(&start, StreamRef::Name(row.stream), id).await
                }
                _ => Err(UnknownRun(id).into()),
            },
            Outcome::Refused(_) => Err(UnknownRun(id).into()),
        }
    }

    /// Executes a new run that was claimed when it was created. Otherwise another node may have
    /// room.
    async fn execute(&self, run: &Started, version: u32, claim: Option<Fence>, first: Record) {
        let Some(fence) = claim else {
            return self.parts.node.hint_others(Hint::Ready(run.stream));
        };
        let claimed = Claimed {
            stream: run.stream,
            run: run.run.clone(),
            generation: run.generation,
            workflow: run.workflow.clone(),
            version,
            fence,
            mailbox: self.dispatcher.enter_memory(run.stream, fence),
            takeovers: 0,
            seq: ExecutorSeq(0),
            probation: None,
        };
        self.dispatcher.activate_new(claimed, first).await;
    }

    fn creation(&self, start: &Start, id: &RunId, version: u32) -> (CreateCommit, Record) {
        let now = self.parts.node.now();
        let deadline = start.deadline;
        let deadline =
            deadline.or_else(|| self.parts.workers.deadline_of(&start.workflow, version));
        let name = StreamName::of_run(id, Generation::FIRST);
        let mut commit = CreateCommit::new(name.clone(), now);
        let created = Created {
            workflow: start.workflow.clone(),
            version,
            input: start.input.clone(),
            seed: Seed(self.parts.node.runtime.random()),
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
            no_return: false,
        };
        commit.run = Some(list_row(id, Generation::FIRST, &created, now).into());
        let body = created.into();
        let record = Record { time: now, body };
        commit.records.push(record.clone());
        if let Some(key) = &start.idempotency_key {
            let key_of = RowKey::Idempotency(start.workflow.clone(), key.clone());
            commit.guards.push(Guard::RowAbsent(key_of));
            commit.rows.put.push(Row::Idempotency(IdempotencyRow {
                workflow: start.workflow.clone(),
                key: key.clone(),
                stream: name,
            }));
        }
        commit.ready = true;
        commit.claim = self.parts.claim_new(&start.workflow, version);
        (commit, record)
    }

    async fn existing(
        &self,
        start: &Start,
        stream: StreamRef,
        id: RunId,
    ) -> Result<Started, StartError> {
        let head = self.parts.node.store.head(stream).await?;
        let Some(first) = head.and_then(|head| head.run) else {
            return Err(UnknownRun(id).into());
        };
        let (head, row) = self.parts.node.find(&first.id).await?;
        if start.strict {
            return Err(RunExists(row.id).into());
        }
        if row.workflow != start.workflow {
            return Err(OtherWorkflow {
                run: row.id,
                workflow: row.workflow,
                asked: start.workflow.clone(),
            }
            .into());
        }
        Ok(Started {
            run: row.id,
            generation: row.generation,
            created: false,
            workflow: row.workflow,
            stream: head.number,
        })
    }
}

/// Returns the row of a new generation in lists.
pub(super) fn list_row(
    run: &RunId,
    generation: Generation,
    created: &Created,
    now: Timestamp,
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

pub(super) fn random_run_id(node: &Node) -> Result<RunId, InvalidRunId> {
    RunId::new(random_id(node))
}

pub(super) fn random_id(node: &Node) -> String {
    let (a, b) = (node.runtime.random(), node.runtime.random());
    format!("{a:016x}{b:016x}")
}

fn check(start: &Start) -> Result<(), StartError> {
    start.input.check_size()?;
    if start.tags.len() > limits::TAGS_MAX {
        return Err(InvalidOptions(format!(
            "a run may have {} tags, {} were given",
            limits::TAGS_MAX,
            start.tags.len()
        ))
        .into());
    }
    let bad_tag = |tag: &&String| {
        tag.is_empty()
            || tag.chars().count() > limits::TAG_CHARS_MAX
            || tag.chars().any(char::is_control)
    };
    if let Some(tag) = start.tags.iter().find(bad_tag) {
        return Err(InvalidOptions(format!(
            "tag {tag:?} must have 1 to {} characters and no control characters",
            limits::TAG_CHARS_MAX
        ))
        .into());
    }
    check_key("idempotency key", start.idempotency_key.as_deref())?;
    if start.deadline.is_some_and(|deadline| deadline.is_zero()) {
        return Err(InvalidOptions("a deadline must be longer than zero".to_owned()).into());
    }
    Ok(())
}

/// Checks the length of a key that becomes part of a row.
pub(super) fn check_key(what: &str, key: Option<&str>) -> Result<(), InvalidOptions> {
    match key {
        Some(key) if key.is_empty() || key.len() > limits::KEY_BYTES_MAX => {
            Err(InvalidOptions(format!(
                "the {what} must have 1 to {} bytes, it has {}",
                limits::KEY_BYTES_MAX,
                key.len()
            )))
        }
        _ => Ok(()),
    }
}
