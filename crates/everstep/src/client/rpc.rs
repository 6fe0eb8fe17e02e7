//! Open rpcs of a run: wait for one, and answer it.

use std::marker::PhantomData;
use std::ops::Deref;

use everstep_engine::Answer;
use everstep_inspect::{OpenRpc, Overview};
use everstep_model::{Body, ErrorCode, Payload, RecordNumber, RpcId, RunId, RunStatus};
use serde::Serialize;

use super::error::{AnswerError, ReadError};
use super::handle::RunHandle;
use crate::declaration::Rpc;

/// Why no open rpc was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum NextRpcError {
    #[error("run `{run}` is {status} and will not make the rpc `{method}`")]
    Ended {
        run: RunId,
        status: RunStatus,
        method: String,
    },
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl NextRpcError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Ended { .. } => ErrorCode::RunFinished,
            Self::Read(error) => error.code(),
        }
    }
}

/// An open rpc of a run, with its arguments.
pub struct RpcHandle<R> {
    run: RunHandle,
    open: OpenRpc,
    rpc: PhantomData<fn() -> R>,
}

impl<R: Rpc> RpcHandle<R> {
    /// Answers the rpc. The first valid answer counts.
    ///
    /// # Errors
    /// If the rpc is no longer open.
    pub async fn answer(&self, answer: &R::Answer) -> Result<(), AnswerError>
    where
        R::Answer: Serialize,
    {
        self.run.answer::<R>(&self.open.rpc_id, answer).await
    }
}

impl RunHandle {
    /// Waits until the run makes an rpc of this type, and returns the oldest open one.
    ///
    /// ```
    /// use everstep::schemars::{self, JsonSchema};
    /// use everstep::testing::{TestEngine, virtual_time};
    /// use everstep::{Ctx, Payload, Rpc, Workflows, interface};
    /// use serde::Serialize;
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Approve { amount: u32 }
    /// impl Rpc for Approve {
    ///     const METHOD: &'static str = "approve";
    ///     type Answer = bool;
    /// }
    ///
    /// interface!(Pay { rpcs: Approve; });
    ///
    /// virtual_time(async {
    ///     let pay = |ctx: Ctx<Pay>, amount: u32| async move { ctx.rpc(Approve { amount }).await };
    ///     let test = TestEngine::builder().workflows(Workflows::new().function("pay", pay)).start().await;
    ///     let run = test.start_by_name("pay", Payload::from_value(&100).unwrap()).await.unwrap();
    ///     let approve = run.next_rpc::<Approve>().await.unwrap();
    ///     assert_eq!(approve.args.as_str(), r#"{"amount":100}"#);
    ///     approve.answer(&true).await.unwrap();
    ///     assert_eq!(run.wait_json().await.unwrap().as_str(), "true");
    /// });
    /// ```
    ///
    /// # Errors
    /// If the run ends first.
    pub async fn next_rpc<R: Rpc>(&self) -> Result<RpcHandle<R>, NextRpcError> {
        Ok(RpcHandle {
            run: self.clone(),
            open: self.next_rpc_by_name(R::METHOD).await?,
            rpc: PhantomData,
        })
    }

    /// Waits until the run makes an rpc with this method, and returns the oldest open one.
    ///
    /// # Errors
    /// If the run ends first.
    pub async fn next_rpc_by_name(&self, method: &str) -> Result<OpenRpc, NextRpcError> {
        let journal = self.journal().await?;
        if let Some(open) = find(Overview::of(&journal), method) {
            return Ok(open);
        }
        let next = journal.last().map_or(0, |entry| entry.number.0 + 1);
        let mut records = self.records_from(RecordNumber(next)).await?;
        while let Some(entry) = records.next().await? {
            let is_made = matches!(&entry.record.body, Body::RpcRequested(rpc) if rpc.method.as_str() == method);
            if is_made && let Some(open) = find(self.inspect().await?.overview, method) {
                return Ok(open);
            }
        }
        Err(NextRpcError::Ended {
            run: self.id.clone(),
            status: self.status().await?,
            method: method.to_owned(),
        })
    }

    /// Answers an rpc of the run. The first valid answer counts.
    ///
    /// An answer of another type does not compile:
    ///
    /// ```compile_fail,E0308
    /// # use everstep::schemars::{self, JsonSchema};
    /// # use everstep::{Result, Rpc, RunHandle, operation::RpcId};
    /// # #[derive(serde::Serialize, JsonSchema)]
    /// # struct Approve;
    /// # impl Rpc for Approve { const METHOD: &'static str = "approve"; type Answer = bool; }
    /// # async fn example(run: RunHandle, rpc: RpcId) -> Result<()> {
    /// run.answer::<Approve>(&rpc, &"yes").await?; // expected `&bool`
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the rpc is no longer open, or is an rpc of another type whose answer must match another
    /// schema.
    pub async fn answer<R: Rpc>(&self, rpc: &RpcId, answer: &R::Answer) -> Result<(), AnswerError>
    where
        R::Answer: Serialize,
    {
        self.answer_json(rpc, Payload::from_value(answer)?).await
    }

    /// Answers an rpc of the run with JSON. The first valid answer counts.
    ///
    /// # Errors
    /// If the rpc is no longer open, or the answer does not match the schema of the rpc.
    pub async fn answer_json(&self, rpc: &RpcId, answer: Payload) -> Result<(), AnswerError> {
        let answer = Answer {
            run: self.id.clone(),
            rpc: rpc.clone(),
            answer,
            by: None,
            dedup_id: None,
            generation: None,
        };
        self.port.answer(answer).await
    }
}

fn find(overview: Overview, method: &str) -> Option<OpenRpc> {
    let mut open = overview.rpcs.into_iter();
    open.find(|rpc| rpc.method.as_str() == method)
}

impl<R> Deref for RpcHandle<R> {
    type Target = OpenRpc;

    fn deref(&self) -> &OpenRpc {
        &self.open
    }
}

debug_by_name!(impl<R> RpcHandle<R>: open.rpc_id);
