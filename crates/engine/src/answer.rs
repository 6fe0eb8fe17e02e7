//! Answering rpcs: the first valid answer wins, a later or late one is refused without effect.

use std::sync::Arc;

use everstep_model::record::RpcAnswered;
use everstep_model::{Payload, Record, RpcId, RunId};
use everstep_store::{Guard, Outcome, Row, RowKey, RpcRow};

use crate::core::Core;
use crate::error::EngineError;
use crate::projection;

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
}

impl Core {
    /// The open rpc with that id.
    async fn open_rpc(&self, run: &RunId, rpc: &RpcId) -> Result<RpcRow, EngineError> {
        let (head, _) = self.find(run).await?;
        match self
            .store
            .row(RowKey::Rpc(head.number, rpc.clone()))
            .await?
        {
            Some(Row::Rpc(row)) => Ok(row),
            Some(
                Row::Timer(_)
                | Row::Idempotency(_)
                | Row::Generation(_)
                | Row::Outbox(_)
                | Row::Stream(_)
                | Row::Producer(_),
            )
            | None => Err(self.not_open(run, rpc)),
        }
    }

    pub(crate) async fn answer(self: &Arc<Self>, answer: Answer) -> Result<(), EngineError> {
        self.check_open()?;
        answer.answer.check_size()?;
        let row = self.open_rpc(&answer.run, &answer.rpc).await?;
        let (head, run) = self.find(&answer.run).await?;
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
                answer: answer.answer,
                by: answer.by,
            }
            .into(),
        });
        projection::project(&mut commit, head.number);
        match self.deliver(&answer.run, &head, commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => Ok(()),
            Outcome::Refused(_) => Err(self.not_open(&answer.run, &answer.rpc)),
        }
    }

    fn not_open(&self, run: &RunId, rpc: &RpcId) -> EngineError {
        EngineError::RpcNotOpen {
            run: run.clone(),
            rpc: rpc.to_string(),
        }
    }
}
