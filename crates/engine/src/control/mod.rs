//! Control of runs by operators, one file per verb.
//!
//! Requests that the run itself carries out (pause, cancel) are inbox records; their position in the
//! journal decides what they affect. Requests that overrule the executor (terminate, settle a step)
//! revoke its claim in the same commit, so that none of its later appends succeed. Reviving creates
//! a new generation. Each verb reports its outcome and can be repeated, also to complete it after a
//! crash.

mod bulk;
mod cancel;
mod delete;
mod fork;
mod pause;
mod retention;
mod revive;
mod settle_step;
mod terminate;
mod verbs;

use std::fmt;
use std::sync::Arc;

use everstep_inspect::Overview;
use everstep_model::{Body, Entry, Generation, Record, RecordNumber, RunId, RunStatus};
use everstep_store::{Head, Outcome, Refusal, RunRow};

pub use bulk::{BulkProgress, BulkReport};
pub use everstep_model::Control;
pub use fork::ForkRun;
pub use retention::Retention;
pub use revive::Revival;
pub use settle_step::Settlement;

use crate::core::Core;
use crate::error::{ControlError, ReadError, Unavailable, UnreadableJournal};

/// The actor and the reason of a request, for the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestOrigin {
    /// The actor.
    pub by: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

/// The outcome of a control request. Displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The run.
    pub run: RunId,
    /// The latest generation.
    pub generation: Generation,
    /// The status after the request.
    pub status: RunStatus,
    /// The effect of the request.
    pub effect: Effect,
}

/// The effect of a control request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The request took effect, or an executor acts on it now.
    Done,
    /// The request is recorded and takes effect when the run is executed. No worker known to this node
    /// offers matching code.
    NeedsWorker,
    /// The run was deleted. The status is its last.
    Deleted,
    /// The request had no effect.
    Nothing(Because),
}

/// Why a request had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The run has ended.
    Finished,
    /// The run is paused or pausing.
    Paused,
    /// The run is not paused.
    NotPaused,
    /// The run is already ending. The first reason is kept.
    Ending,
    /// The run did not fail.
    NotFailed,
    /// The rollback of the run did not fail.
    RollbackDidNotFail,
}

impl Done {
    /// Returns whether the request changed the run.
    #[must_use]
    pub fn changed(&self) -> bool {
        !matches!(self.effect, Effect::Nothing(_))
    }

    fn of(row: &RunRow, status: RunStatus, effect: Effect) -> Self {
        Self {
            run: row.id.clone(),
            generation: row.generation,
            status,
            effect,
        }
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.effect == Effect::Deleted {
            return write!(f, "run `{}` is deleted; it was {}", self.run, self.status);
        }
        write!(f, "run `{}` is {}", self.run, self.status)?;
        match self.effect {
            Effect::Done | Effect::Deleted => Ok(()),
            Effect::NeedsWorker => {
                f.write_str("; it goes on from there when a worker offers code that fits it")
            }
            Effect::Nothing(because) => write!(f, "; there was nothing to do: {because}"),
        }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "it is over",
            Self::Paused => "it is paused already, or asked to be",
            Self::NotPaused => "it is not paused",
            Self::Ending => "it is coming to its end already",
            Self::NotFailed => "it did not end badly",
            Self::RollbackDidNotFail => "its rollback did not fail",
        })
    }
}

/// The state of a run at the time of a request.
pub(crate) struct Sight {
    pub(crate) head: Head,
    pub(crate) row: RunRow,
    pub(crate) journal: Vec<Entry>,
    pub(crate) overview: Overview,
}

impl Sight {
    /// The end of the journal when it was read.
    fn end(&self) -> RecordNumber {
        RecordNumber(self.overview.records)
    }

    /// The status of the run after this record.
    fn status_with(&self, record: &Record) -> RunStatus {
        let mut overview = self.overview.clone();
        overview.fold(&Entry {
            number: self.end(),
            record: record.clone(),
        });
        overview.status()
    }

    fn nothing(&self, because: Because) -> Done {
        Done::of(&self.row, self.overview.status(), Effect::Nothing(because))
    }
}

impl Core {
    /// Completes a verb even if the caller is dropped. The caller may be the run that is ended.
    async fn to_its_end<T: Send + 'static>(
        self: &Arc<Self>,
        verb: impl Future<Output = Result<T, ControlError>> + Send + 'static,
    ) -> Result<T, ControlError> {
        let (send, receive) = tokio::sync::oneshot::channel();
        self.spawn(Box::pin(async move {
            let _ = send.send(verb.await);
        }));
        receive
            .await
            .unwrap_or(Err(Unavailable::ShuttingDown.into()))
    }

    /// Reads the latest generation of a run with its journal.
    async fn sight(&self, run: &RunId) -> Result<Sight, ReadError> {
        let (head, row) = self.find(run).await?;
        let journal = self.read_journal(head.number, RecordNumber(0)).await?;
        let overview = Overview::of(&journal);
        Ok(Sight {
            head,
            row,
            journal,
            overview,
        })
    }

    /// Appends a request to a run's inbox, unless `decide` finds a reason not to. The status in lists
    /// changes in the same commit.
    async fn request(
        self: &Arc<Self>,
        run: &RunId,
        decide: impl Fn(&Overview) -> Result<Body, Because>,
    ) -> Result<Done, ControlError> {
        self.check_open()?;
        loop {
            let sight = self.sight(run).await?;
            if sight.overview.end.is_some() {
                return Ok(sight.nothing(Because::Finished));
            }
            let body = match decide(&sight.overview) {
                Ok(body) => body,
                Err(because) => return Ok(sight.nothing(because)),
            };
            let mut commit = self.inbox_commit(&sight.head);
            let record = Record {
                time: commit.now,
                body,
            };
            let status = sight.status_with(&record);
            commit.status = Some(status);
            commit.records.push(record);
            match self.deliver(run, &sight.head, commit).await? {
                Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                    return Ok(Done::of(&sight.row, status, self.effect_on(&sight, status)));
                }
                // The run ended or was deleted concurrently: look again.
                Outcome::Refused(Refusal::Closed | Refusal::NoStream) => {}
                Outcome::Refused(refusal) => return Err(self.refused(run, &refusal)),
            }
        }
    }

    /// Returns whether an executor will act on a request. A diverged run needs other code first.
    fn effect_on(&self, sight: &Sight, status: RunStatus) -> Effect {
        if status == RunStatus::Diverged {
            return Effect::NeedsWorker;
        }
        let is_offered = self
            .worker(&sight.row.workflow, sight.row.version)
            .is_some();
        if is_offered || sight.head.owner.is_some() {
            Effect::Done
        } else {
            Effect::NeedsWorker
        }
    }

    /// The error of a refusal that the store should never return here.
    fn refused(&self, run: &RunId, refusal: &Refusal) -> ControlError {
        UnreadableJournal {
            run: run.clone(),
            detail: refusal.to_string(),
        }
        .into()
    }
}
