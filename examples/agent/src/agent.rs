//! The agent: a loop of turns. In each turn the model chooses a tool call, a person approves it,
//! and the tool executes it.

use std::ops::ControlFlow;
use std::time::Duration;

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Event, Result, Rpc, Workflow, interface};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::{Conversation, Speaker};
use crate::model::{Model, Move, ToolCall};
use crate::tools::Tools;

/// Works on a task until the model has an answer.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Chooses the next action.
    pub model: Model,
    /// The tools that the model can call.
    pub tools: Tools,
    /// The maximum number of turns per task.
    pub budget: u32,
    /// How long the person has to approve a call.
    pub patience: Duration,
}

/// The outcome of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model finished.
    Answered(String),
    /// The person stopped the agent.
    Stopped(String),
    /// The agent reached the maximum number of turns.
    OutOfTurns,
}

/// The question to the person, as clients see it: the method `approveTool` with a tool and its
/// arguments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApproveTool {
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
}

/// The answer: `{"verdict": "reject", "note": "too expensive"}`. The server rejects any other
/// shape, and the question stays open.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Whether the call is approved.
    pub verdict: Verdict,
    /// A note for the model.
    #[serde(default)]
    pub note: String,
}

/// The decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Execute the call.
    Approve,
    /// Do not execute the call.
    Reject,
}

impl Rpc for ApproveTool {
    const METHOD: &'static str = "approveTool";
    type Answer = Decision;
}

/// An event with which the person stops the agent at any time: `{"reason": "never mind"}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// The reason for stopping.
    pub reason: String,
}

impl Event for Stop {
    const NAME: &'static str = "stop";
}

interface! {
    pub AgentInterface {
        events: Stop;
        rpcs: ApproveTool;
    }
}

impl Workflow for Agent {
    const NAME: &'static str = "agent";
    type Input = String;
    type Output = Outcome;
    type Interface = AgentInterface;

    async fn run(&self, ctx: Ctx<Self>, task: String) -> Result<Outcome> {
        let conversation = Conversation::about(task);
        ctx.repeat("turns", conversation, |ctx, conversation| {
            self.turn(ctx, conversation)
        })
        .await
    }
}

/// The reaction of the person to a call.
enum Said {
    Decided(Option<Decision>),
    Stop(Stop),
}

impl Agent {
    /// One turn: continues with a longer conversation, or ends with an outcome.
    async fn turn(
        &self,
        ctx: Ctx<Self>,
        conversation: Conversation,
    ) -> Result<ControlFlow<Outcome, Conversation>> {
        if conversation.turns >= self.budget {
            return Ok(ControlFlow::Break(Outcome::OutOfTurns));
        }
        // Handle a stop that arrived during the model's or the tool's last step.
        if let Some(stop) = ctx.try_event::<Stop>().await? {
            return Ok(ControlFlow::Break(Outcome::Stopped(stop.reason)));
        }

        // The model might answer differently after a crash, so its answer is recorded as a step.
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

    /// Asks the person for approval. The person can also stop the agent. The race drops the loser:
    /// a stop withdraws the question.
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

    /// Calls a tool. All attempts share an idempotency key, so that a call whose result was lost in
    /// a crash is not executed twice. A failing tool does not fail the agent: the model learns of
    /// the error and can choose something else.
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
