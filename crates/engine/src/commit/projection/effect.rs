//! An effect of one run on another, and its encoding. It is JSON, because most effects are
//! delivered within milliseconds, and the others should be readable.

use everstep_model::record::ChildOutcome;
use everstep_model::{
    Body, ErrorCode, Failure, Generation, Link, Name, Payload, RunId, Seed, TraceParent,
};
use serde::{Deserialize, Serialize};

/// The maximum length of the chain of causes that a parent receives with the failure of a child.
/// Each level of children adds one.
const CAUSES_MAX: usize = 16;

/// An effect on another run. The link names the operation that caused it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// Starts a run.
    StartChild(StartChild),
    /// Reports the end of another run to the run, once it has ended.
    AwaitRun { run: RunId, parent: Link },
    /// Reports the end of a child to its parent.
    ChildFinished(ChildFinished),
    /// Sends an event.
    SendEvent {
        to: RunId,
        event: Name,
        payload: Payload,
        sender: Link,
    },
    /// Cancels a child.
    CancelRun { run: RunId, parent: Link },
    /// Terminates a child.
    TerminateRun { run: RunId, parent: Link },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StartChild {
    pub(crate) run: RunId,
    pub(crate) workflow: Name,
    pub(crate) input: Payload,
    pub(crate) tags: Vec<String>,
    pub(crate) parent: Link,
    /// Whether the parent does not wait for it.
    pub(crate) detached: bool,
    /// The trace context of the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceParent>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChildFinished {
    pub(crate) parent: Link,
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    /// Distinguishes the run from other runs that have had the same id. `None` if an older release
    /// wrote the effect, or if the run does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) identity: Option<Seed>,
    pub(crate) outcome: ChildOutcome,
}

impl ChildFinished {
    /// Returns the end of a child that cannot be started or awaited.
    pub(crate) fn failed(run: &RunId, parent: &Link, failure: Failure) -> Self {
        Self {
            parent: parent.clone(),
            run: run.clone(),
            generation: parent.generation,
            identity: None,
            outcome: ChildOutcome::Failed(failure),
        }
    }

    /// Returns the key by which repeated deliveries are recognised.
    pub(crate) fn key(&self) -> String {
        let end = Link {
            run: self.run.clone(),
            generation: self.generation,
            location: self.parent.location.clone(),
            identity: self.identity,
        };
        end.key()
    }
}

impl Effect {
    /// Returns the run that is affected. Effects of one run on another are delivered in the order
    /// of their causes.
    pub(crate) fn target(&self) -> &RunId {
        match self {
            Self::StartChild(start) => &start.run,
            Self::ChildFinished(finished) => &finished.parent.run,
            Self::SendEvent { to, .. } => to,
            Self::AwaitRun { run, .. }
            | Self::CancelRun { run, .. }
            | Self::TerminateRun { run, .. } => run,
        }
    }

    /// Returns whether the effect ends its target.
    pub(crate) fn ends_its_target(&self) -> bool {
        match self {
            Self::CancelRun { .. } | Self::TerminateRun { .. } => true,
            Self::StartChild(_)
            | Self::AwaitRun { .. }
            | Self::ChildFinished(_)
            | Self::SendEvent { .. } => false,
        }
    }

    /// Encodes the effect. `None` if it contains something that is not JSON, which no journal does.
    pub(crate) fn to_payload(&self) -> Option<Payload> {
        let bytes = serde_json::to_vec(self).ok()?;
        Payload::from_json(bytes).ok()
    }

    /// Decodes an effect. `None` if a newer release wrote it.
    pub(crate) fn from_payload(payload: &Payload) -> Option<Self> {
        payload.decode().ok()
    }
}

/// Returns the outcome that the parent of a run receives. `None` if the record does not end the
/// run.
pub(crate) fn outcome_of(end: &Body) -> Option<ChildOutcome> {
    let cancelled = |code, message: &str, reason: Option<&String>| {
        let reason = reason.map(|reason| format!(": {reason}"));
        let message = format!("{message}{}", reason.unwrap_or_default());
        ChildOutcome::Cancelled(Failure::new(code, message))
    };
    Some(match end {
        Body::Completed(end) => ChildOutcome::Completed(end.result.clone()),
        Body::Failed(end) => ChildOutcome::Failed(shortened(&end.error)),
        Body::RollbackFailed(end) => {
            let message = format!(
                "it failed, and its rollback failed too: {}",
                end.rollback_error
            );
            let failure = Failure::new(ErrorCode::RollbackFailed, message);
            ChildOutcome::Failed(failure.caused_by(shortened(&end.error)))
        }
        Body::Cancelled(end) => {
            let reason = end.reason.as_ref();
            cancelled(ErrorCode::RunCancelled, "it was cancelled", reason)
        }
        Body::Terminated(end) => {
            let reason = end.reason.as_ref();
            cancelled(ErrorCode::RunTerminated, "it was terminated", reason)
        }
        _ => return None,
    })
}

/// Limits the chain of causes of a failure.
fn shortened(failure: &Failure) -> Failure {
    let mut failure = failure.clone();
    let mut last = &mut failure;
    for _ in 0..CAUSES_MAX {
        match &mut last.cause {
            Some(cause) => last = cause,
            None => return failure,
        }
    }
    last.cause = None;
    failure
}

#[cfg(test)]
mod tests;
