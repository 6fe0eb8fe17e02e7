//! Answering rpcs: the first valid answer wins, a later or late one is refused without effect.

use std::sync::Arc;

use everstep_model::record::RpcAnswered;
use everstep_model::{Body, Generation, Payload, Record, RecordNumber, RpcId, RunId};
use everstep_store::{Guard, Head, Outcome, Row, RowKey, RpcRow};

use crate::core::Core;
use crate::error::EngineError;
use crate::projection;
use crate::start::check_key;

/// An answer to an rpc.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The run that asks.
    pub run: RunId,
    /// The question.
    pub rpc: RpcId,
    /// The answer.
    pub answer: Payload,
    /// Who answers.
    pub by: Option<String>,
    /// The sender's id for it; sent again under the same id it is not refused.
    pub dedup_id: Option<String>,
    /// The life of the run that is answered; without one it is whichever the run lives.
    pub generation: Option<Generation>,
}

/// What became of an answer that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It was the first, and is in the run's journal at this record.
    Accepted(RecordNumber),
    /// It was there already, at this record.
    Duplicate(RecordNumber),
}

impl Core {
    /// The open rpc with that id.
    pub(crate) async fn open_rpc(&self, run: &RunId, rpc: &RpcId) -> Result<RpcRow, EngineError> {
        let (head, _) = self.find(run).await?;
        self.open_rpc_of(&head, run, rpc).await
    }

    async fn open_rpc_of(
        &self,
        head: &Head,
        run: &RunId,
        rpc: &RpcId,
    ) -> Result<RpcRow, EngineError> {
        let key = RowKey::Rpc(head.number, rpc.clone());
        match self.store.row(key).await? {
            Some(Row::Rpc(row)) => Ok(row),
            Some(
                Row::Timer(_)
                | Row::Idempotency(_)
                | Row::Generation(_)
                | Row::Outbox(_)
                | Row::Stream(_)
                | Row::Producer(_)
                | Row::Shared(_),
            )
            | None => Err(self.not_open(run, rpc)),
        }
    }

    pub(crate) async fn answer(self: &Arc<Self>, answer: Answer) -> Result<Answered, EngineError> {
        self.check_open()?;
        answer.answer.check_size()?;
        check_key("dedup id", answer.dedup_id.as_deref())?;
        let (head, run) = self.find_meant(&answer.run, answer.generation).await?;
        let row = match self.open_rpc_of(&head, &answer.run, &answer.rpc).await {
            Err(EngineError::RpcNotOpen { .. }) => return self.answered_before(&answer).await,
            row => row?,
        };
        self.check_answer(&run, &row.method, &answer.answer)?;
        let mut commit = self.inbox_commit(&head);
        commit.guards.push(Guard::RowPresent(RowKey::Rpc(
            head.number,
            answer.rpc.clone(),
        )));
        commit.records.push(Record {
            time: commit.now,
            body: RpcAnswered {
                location: row.location,
                rpc_id: answer.rpc.clone(),
                answer: answer.answer.clone(),
                by: answer.by.clone(),
                dedup_id: answer.dedup_id.clone(),
            }
            .into(),
        });
        let parts = projection::Parts {
            put: &mut commit.put,
            delete: &mut commit.delete,
            drop: &mut commit.drop,
        };
        projection::project(&commit.records, head.number, parts);
        match self.deliver(&answer.run, &head, commit).await? {
            Outcome::Committed { first, .. } => Ok(Answered::Accepted(first)),
            Outcome::Duplicate { first, .. } => Ok(Answered::Duplicate(first)),
            Outcome::Refused(_) => self.answered_before(&answer).await,
        }
    }

    /// Looks for this very answer in the journal of a question that is not open any more.
    async fn answered_before(&self, answer: &Answer) -> Result<Answered, EngineError> {
        self.find_meant(&answer.run, answer.generation).await?;
        if answer.dedup_id.is_some() {
            let (_, journal) = self.journal(&answer.run).await?;
            let found = journal.iter().find(|entry| match &entry.record.body {
                Body::RpcAnswered(known) => {
                    known.rpc_id == answer.rpc && known.dedup_id == answer.dedup_id
                }
                _ => false,
            });
            if let Some(entry) = found {
                return Ok(Answered::Duplicate(entry.number));
            }
        }
        Err(self.not_open(&answer.run, &answer.rpc))
    }

    fn not_open(&self, run: &RunId, rpc: &RpcId) -> EngineError {
        EngineError::RpcNotOpen {
            run: run.clone(),
            rpc: rpc.to_string(),
        }
    }
}
