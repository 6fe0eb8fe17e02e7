//! The agent: a loop of turns. In each the model says what it wants, the person agrees or does not, and the tool does it.

use std::ops::ControlFlow;
use std::time::Duration;

use everstep::{Accepts, Ctx, Declare, Error, Event, Result, Rpc, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::{Conversation, Speaker};
use crate::model::{Model, Move, ToolCall};
use crate::tools::Tools;

/// Works on a task until it has an answer.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Who decides what to do.
    pub model: Model,
    /// What can be done.
    pub tools: Tools,
    /// How many turns a task may take.
    pub budget: u32,
    /// How long the person has to approve a call.
    pub patience: Duration,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model is done.
    Answered(String),
    /// The person had enough.
    Stopped(String),
    /// The model did not find an end.
    OutOfTurns,
}

/// The question to the person, as clients see it: `approveTool` with a tool and its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApproveTool {
    /// Which tool.
    pub tool: String,
    /// What it would be called with.
    pub arguments: Value,
}

/// The answer: `{"verdict": "reject", "note": "too expensive"}`. One of another shape is refused, and the question stays
/// open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Yes or no.
    pub verdict: Verdict,
    /// What the model should know.
    #[serde(default)]
    pub note: String,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Do it.
    Approve,
    /// Do something else.
    Reject,
}

impl Rpc for ApproveTool {
    const METHOD: &'static str = "approveTool";
    type Answer = Decision;
}

/// The person wants it to end, whatever it is doing: `{"reason": "never mind"}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stop {
    /// Why.
    pub reason: String,
}

impl Event for Stop {
    const NAME: &'static str = "stop";
}

impl Accepts<Stop> for Agent {}

impl Workflow for Agent {
    const NAME: &'static str = "agent";
    type Input = String;
    type Output = Outcome;

    fn declare(declare: &mut Declare<Self>) {
        declare.event::<Stop>().rpc::<ApproveTool>();
    }

    async fn run(&self, ctx: Ctx<Self>, task: String) -> Result<Outcome> {
        let conversation = Conversation::about(task);
        ctx.repeat("turns", conversation, |ctx, conversation| {
            self.turn(ctx, conversation)
        })
        .await
    }
}

/// What the person says to a call.
enum Said {
    Decided(Option<Decision>),
    Stop(Stop),
}

impl Agent {
    /// One turn: goes on with a longer conversation, or ends with an outcome.
    async fn turn(
        &self,
        ctx: Ctx<Self>,
        conversation: Conversation,
    ) -> Result<ControlFlow<Outcome, Conversation>> {
        if conversation.turns >= self.budget {
            return Ok(ControlFlow::Break(Outcome::OutOfTurns));
        }
        // A stop that came while the model was thinking or a tool was at work.
        if let Some(stop) = ctx.try_event::<Stop>().await? {
            return Ok(ControlFlow::Break(Outcome::Stopped(stop.reason)));
        }

        // Asked again after a crash, a model might want something else. This answer is recorded, and stands.
        let thought = ctx.step("think", || async {
            Ok::<_, Error>(self.model.next(&conversation).await)
        });
        let call = match thought.await? {
            Move::Call(call) => call,
            Move::Answer(answer) => return Ok(ControlFlow::Break(Outcome::Answered(answer))),
        };

        let (from, text) = match self.ask(&ctx, &call).await? {
            Said::Stop(stop) => return Ok(ControlFlow::Break(Outcome::Stopped(stop.reason))),
            Said::Decided(Some(decision)) if decision.verdict == Verdict::Approve => {
                (Speaker::Tool, self.use_tool(&ctx, &call).await?)
            }
            Said::Decided(Some(decision)) => (
                Speaker::Person,
                format!("{} rejected: {}", call.tool, decision.note),
            ),
            Said::Decided(None) => (
                Speaker::Person,
                format!("{} rejected: nobody answered in time", call.tool),
            ),
        };
        Ok(ControlFlow::Continue(conversation.after(from, text)))
    }

    /// Asks the person, who may also stop everything instead of answering: whatever comes first counts, and the other is
    /// dropped. For the question that means that it is taken back.
    async fn ask(&self, ctx: &Ctx<Self>, call: &ToolCall) -> Result<Said> {
        let question = ApproveTool {
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        };
        tokio::select! {
            biased; // or the choice between two that are ready would be random, and another one on replay
            stop = ctx.event::<Stop>() => Ok(Said::Stop(stop?)),
            decision = ctx.rpc(question).timeout(self.patience) => Ok(Said::Decided(decision?)),
        }
    }

    /// Calls a tool. Every attempt carries the same key, so that a call whose result was lost in a crash is not made twice.
    /// A tool that fails is no reason for the agent to fail: the model is told, and may think of something else.
    async fn use_tool(&self, ctx: &Ctx<Self>, call: &ToolCall) -> Result<String> {
        let tried = ctx.try_scope("tool", |ctx| async move {
            ctx.step_with("use-tool", |step| async move {
                let used = self.tools.call(step.idempotency_key(), call).await;
                used.map_err(|unknown| Error::from(unknown).non_retryable())
            })
            .await
        });
        Ok(match tried.await? {
            Ok(result) => result,
            Err(error) => format!("{} failed: {error}", call.tool),
        })
    }
}

#[cfg(test)]
mod tests;
