//! Control of runs: what operators ask for, one file per concept.
//!
//! Requests that leave a run to come to an end by itself (pausing, cancelling) are inbox records, and their place in the
//! journal decides what they meet. Those that overrule its executor (terminating, settling a step) withdraw the right to
//! execute with the commit, so that nothing of the executor lands after it. Reviving makes a new generation. Each verb
//! says what it did, can be repeated, and can be taken up by repeating it where a crash cut it short.

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

/// Who asks for something, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Who.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// What a request did to a run. Displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The run.
    pub run: RunId,
    /// Its latest life.
    pub generation: Generation,
    /// What it is doing now.
    pub status: RunStatus,
    /// What became of the request.
    pub effect: Effect,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It took effect; what the run must do about it begins at once.
    Done,
    /// It is recorded, and takes effect when somebody executes the run: no worker known here offers code that fits it.
    NeedsWorker,
    /// The run is gone, with everything it left; the status is its last.
    Deleted,
    /// There was nothing to do.
    Nothing(Because),
}

/// Why there was nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The run is over.
    Finished,
    /// It is paused, or asked to be.
    Paused,
    /// It is not paused.
    NotPaused,
    /// Something is ending it already, and the first reason is kept.
    Ending,
    /// It did not end badly.
    NotFailed,
    /// Its rollback did not fail.
    RollbackDidNotFail,
}

impl Done {
    /// Whether the request changed anything.
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

/// A run as a request finds it.
pub(crate) struct Sight {
    pub(crate) head: Head,
    pub(crate) row: RunRow,
    pub(crate) journal: Vec<Entry>,
    pub(crate) overview: Overview,
}

impl Sight {
    /// The number of records read: where the journal ended then.
    fn end(&self) -> RecordNumber {
        RecordNumber(self.overview.records)
    }

    /// What the run will be doing once this is in its journal.
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
    /// Does something to its end, even if whoever asked goes away: it may be the very run that is ended.
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

    /// A run's latest generation, with what its journal says.
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

    /// Puts a request into a run's inbox, unless there is a reason not to. Lists show at once what it leads to.
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
                // It ended, or was deleted, meanwhile: look again.
                Outcome::Refused(Refusal::Closed | Refusal::NoStream) => {}
                Outcome::Refused(refusal) => return Err(self.refused(run, &refusal)),
            }
        }
    }

    /// Whether somebody will act on a request. Code that does not fit the journal does not come to it.
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

    /// The store refused what it should not have.
    fn refused(&self, run: &RunId, refusal: &Refusal) -> ControlError {
        UnreadableJournal {
            run: run.clone(),
            detail: refusal.to_string(),
        }
        .into()
    }
}
