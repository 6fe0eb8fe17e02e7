//! What an effect is, and its bytes: JSON, because it lives for milliseconds and people may want to read one that does not.

use everstep_model::record::ChildOutcome;
use everstep_model::{
    Body, ErrorCode, Failure, Generation, Link, Name, Payload, RunId, Seed, TraceParent,
};
use serde::{Deserialize, Serialize};

use crate::send::SendEvent;

/// How many causes of a child's failure its parent is told. Families may be deep, and each adds one.
const CAUSES_MAX: usize = 16;

/// Something to be done to another run. The link names the operation that caused it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// Start a run.
    StartChild(StartChild),
    /// Tell the run how another one ended, once it has.
    AwaitRun { run: RunId, parent: Link },
    /// Tell a parent how its child ended.
    ChildFinished(ChildFinished),
    /// Send an event.
    SendEvent {
        to: RunId,
        event: Name,
        payload: Payload,
        sender: Link,
    },
    /// Ask a child to end.
    CancelRun { run: RunId, parent: Link },
    /// End a child at once.
    TerminateRun { run: RunId, parent: Link },
}

/// A child to be started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StartChild {
    pub(crate) run: RunId,
    pub(crate) workflow: Name,
    pub(crate) input: Payload,
    pub(crate) tags: Vec<String>,
    pub(crate) parent: Link,
    /// Whether nobody waits for it.
    pub(crate) detached: bool,
    /// The place in a trace from which it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceParent>,
}

/// A child that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChildFinished {
    pub(crate) parent: Link,
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    /// What tells it from others of its id; none if an older release wrote it, or if there is no such run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) identity: Option<Seed>,
    pub(crate) outcome: ChildOutcome,
}

impl ChildFinished {
    /// The same key however often a parent is told.
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
    /// The run it is about. Effects of one run on another are delivered in the order they were caused.
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

    /// The event to send, if it is one. Its dedup id follows from the operation that sent it.
    pub(crate) fn event(&self) -> Option<SendEvent> {
        let Self::SendEvent {
            to,
            event,
            payload,
            sender,
        } = self
        else {
            return None;
        };
        Some(SendEvent {
            run: to.clone(),
            name: event.clone(),
            payload: payload.clone(),
            dedup_id: Some(format!("sent:{}", sender.key())),
            by: Some(format!("run {}", sender.run)),
            generation: None,
        })
    }

    /// Whether the run it is about is to end by it.
    pub(crate) fn ends_its_target(&self) -> bool {
        match self {
            Self::CancelRun { .. } | Self::TerminateRun { .. } => true,
            Self::StartChild(_)
            | Self::AwaitRun { .. }
            | Self::ChildFinished(_)
            | Self::SendEvent { .. } => false,
        }
    }

    /// Its bytes; none if it holds something that is no JSON, which nothing in a journal is.
    pub(crate) fn to_payload(&self) -> Option<Payload> {
        let bytes = serde_json::to_vec(self).ok()?;
        Payload::from_json(bytes).ok()
    }

    /// Reads it back; none if a newer release wrote it.
    pub(crate) fn from_payload(payload: &Payload) -> Option<Self> {
        payload.decode().ok()
    }
}

/// How a run ended, as its parent sees it; none for a record that ends nothing.
pub(crate) fn outcome_of(end: &Body) -> Option<ChildOutcome> {
    let said = |what: &str, reason: Option<&String>| match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    match end {
        Body::Completed(end) => Some(ChildOutcome::Completed(end.result.clone())),
        Body::Failed(end) => Some(ChildOutcome::Failed(shortened(&end.error))),
        Body::RollbackFailed(end) => {
            let message = format!("it failed and so did its rollback: {}", end.rollback_error);
            let failure = Failure::new(ErrorCode::RollbackFailed, message);
            Some(ChildOutcome::Failed(
                failure.caused_by(shortened(&end.error)),
            ))
        }
        Body::Cancelled(end) => {
            let message = said("it was cancelled", end.reason.as_ref());
            let failure = Failure::new(ErrorCode::RunCancelled, message);
            Some(ChildOutcome::Cancelled(failure))
        }
        Body::Terminated(end) => {
            let message = said("it was terminated", end.reason.as_ref());
            let failure = Failure::new(ErrorCode::RunTerminated, message);
            Some(ChildOutcome::Cancelled(failure))
        }
        _ => None,
    }
}

/// The failure with as many causes as are worth telling.
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
mod tests {
    use everstep_model::record::{Failed, RollbackFailed, Terminated};

    use super::*;

    fn link() -> Link {
        Link {
            run: RunId::new("parent").unwrap(),
            generation: Generation(2),
            location: "join:0/a/ship:3".parse().unwrap(),
            identity: Some(Seed(u64::MAX)),
        }
    }

    #[test]
    fn every_effect_comes_back_from_its_bytes() {
        let run = RunId::new("child").unwrap();
        // As large as a payload may be: an effect is larger.
        let payload = Payload::from_value(&"x".repeat(1024 * 1024 - 2)).unwrap();
        let failure = Failure::new(ErrorCode::StepFailed, "no");
        let effects = [
            Effect::StartChild(StartChild {
                run: run.clone(),
                workflow: Name::new("ship").unwrap(),
                input: payload.clone(),
                tags: vec!["red".to_owned()],
                parent: link(),
                detached: true,
                trace: None,
            }),
            Effect::AwaitRun {
                run: run.clone(),
                parent: link(),
            },
            Effect::ChildFinished(ChildFinished {
                parent: link(),
                run: run.clone(),
                generation: Generation(3),
                identity: Some(Seed(1)),
                outcome: ChildOutcome::Failed(failure.clone().caused_by(failure)),
            }),
            Effect::SendEvent {
                to: run.clone(),
                event: Name::new("paid").unwrap(),
                payload,
                sender: link(),
            },
            Effect::CancelRun {
                run: run.clone(),
                parent: link(),
            },
            Effect::TerminateRun {
                run,
                parent: link(),
            },
        ];
        for effect in effects {
            let payload = effect.to_payload().unwrap();
            assert_eq!(Effect::from_payload(&payload), Some(effect));
        }
    }

    #[test]
    fn a_deep_family_does_not_tell_everything_to_its_head() {
        let mut error = Failure::new(ErrorCode::StepFailed, "the first");
        for _ in 0..500 {
            error = Failure::new(ErrorCode::ChildFailed, "a child").caused_by(error);
        }
        let end = Failed {
            error,
            rolled_back: false,
            abandoned: vec![],
            caused_by: vec![],
        };
        let Some(ChildOutcome::Failed(told)) = outcome_of(&end.into()) else {
            panic!("it failed");
        };
        let mut causes = 0;
        let mut at = &told;
        while let Some(cause) = &at.cause {
            causes += 1;
            at = cause;
        }
        assert_eq!(causes, CAUSES_MAX);
    }

    // B167
    #[test]
    fn a_child_whose_rollback_failed_says_both() {
        let end = RollbackFailed {
            error: Failure::new(ErrorCode::StepFailed, "no money"),
            rollback_error: Failure::new(ErrorCode::UndoFailed, "no refund"),
            abandoned: vec![],
        };
        let Some(ChildOutcome::Failed(why)) = outcome_of(&end.into()) else {
            panic!("it failed");
        };
        assert!(why.is(ErrorCode::RollbackFailed));
        assert!(why.message.contains("no refund"));
        assert_eq!(why.cause.unwrap().message, "no money");
    }

    #[test]
    fn a_terminated_child_says_why() {
        let end = Terminated {
            by: None,
            reason: Some("too slow".to_owned()),
            abandoned: vec![],
        };
        let Some(ChildOutcome::Cancelled(why)) = outcome_of(&end.into()) else {
            panic!("it was ended");
        };
        assert!(why.is(ErrorCode::RunTerminated));
        assert_eq!(why.message, "it was terminated: too slow");
    }
}
