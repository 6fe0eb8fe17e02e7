//! Answers rpcs. The first valid answer wins; later ones are rejected.

use everstep_model::record::RpcAnswered;
use everstep_model::{Body, Generation, Payload, RecordNumber, RpcId, RunId};
use everstep_store::{Guard, Head, Outcome, Row, RowKey, RpcRow, RunRow};

use super::handler::Requests;
use super::start::check_key;
use crate::commit::projection;
use crate::error::{AnswerError, OpenRpcError, RpcNotOpen};

/// An answer to an rpc.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct Answer {
    /// The run that requested the rpc.
    pub run: RunId,
    pub rpc: RpcId,
    /// The answer, which must match the schema of the rpc.
    pub answer: Payload,
    /// The sender, for the journal.
    pub by: Option<String>,
    /// The sender's id of the answer. Repeating the answer with the same id succeeds.
    pub dedup_id: Option<String>,
    /// The generation of the run that it is for. `None` means the current one.
    pub generation: Option<Generation>,
}

/// The outcome of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The answer is in the run's journal, at this record.
    Accepted(RecordNumber),
    /// The same answer is already in the journal, at this record.
    Duplicate(RecordNumber),
}

impl Requests {
    /// Returns the open rpc with that id.
    pub(crate) async fn open_rpc(&self, run: &RunId, rpc: &RpcId) -> Result<RpcRow, OpenRpcError> {
        let (head, _) = self.parts.node.find(run).await?;
        let key = RowKey::Rpc(head.number, rpc.clone());
        match self.parts.node.store.row(key).await? {
            Some(Row::Rpc(row)) => Ok(row),
            _ => Err(not_open(run, rpc).into()),
        }
    }

    pub(crate) async fn answer(&self, answer: Answer) -> Result<Answered, AnswerError> {
        self.parts.committer.check_open()?;
        answer.answer.check_size()?;
        check_key("dedup id", answer.dedup_id.as_deref())?;
        let (head, run) = self.generation_to_answer(&answer).await?;
        let key = RowKey::Rpc(head.number, answer.rpc.clone());
        let Some(Row::Rpc(row)) = self.parts.node.store.row(key.clone()).await? else {
            return self.answered_before(&answer).await;
        };
        let workers = &self.parts.workers;
        workers.check_answer(&run, &row, &answer.answer)?;
        let answered = RpcAnswered {
            location: row.location,
            rpc_id: answer.rpc.clone(),
            answer: answer.answer.clone(),
            by: answer.by.clone(),
            dedup_id: answer.dedup_id.clone(),
        };
        let mut commit = self.dispatcher.inbox_commit(&head, answered);
        commit.guards.push(Guard::RowPresent(key));
        projection::project(&commit.records, head.number, &mut commit.rows);
        match self.dispatcher.deliver(&answer.run, commit).await? {
            Outcome::Committed { first, .. } => Ok(Answered::Accepted(first)),
            Outcome::Duplicate { first, .. } => Ok(Answered::Duplicate(first)),
            Outcome::Refused(_) => self.answered_before(&answer).await,
        }
    }

    async fn generation_to_answer(&self, answer: &Answer) -> Result<(Head, RunRow), AnswerError> {
        let node = &self.parts.node;
        node.find_generation(&answer.run, answer.generation).await
    }

    /// Looks for the same answer in the journal, for an rpc that is no longer open.
    async fn answered_before(&self, answer: &Answer) -> Result<Answered, AnswerError> {
        let (head, _) = self.generation_to_answer(answer).await?;
        if answer.dedup_id.is_some() {
            let node = &self.parts.node;
            let is_same = |body: &Body| {
                matches!(body, Body::RpcAnswered(known)
                    if known.rpc_id == answer.rpc && known.dedup_id == answer.dedup_id)
            };
            if let Some(entry) = node.find_record(head.number, is_same).await? {
                return Ok(Answered::Duplicate(entry.number));
            }
        }
        Err(not_open(&answer.run, &answer.rpc).into())
    }
}

fn not_open(run: &RunId, rpc: &RpcId) -> RpcNotOpen {
    RpcNotOpen {
        run: run.clone(),
        rpc: rpc.to_string(),
    }
}
