//! The interface between requests and an engine, which may be in this process or behind a server.
//! Handles, lists and requests depend only on this trait.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{
    Answer, BulkProgress, Control, Done, ForkRun, RequestOrigin, Revival, RunInfo, SendEvent, Sent,
    Settlement, Start, Unavailable,
};
use everstep_inspect::Why;

use everstep_model::{Body, Entry, Failure, Location, Payload, RecordNumber, RunId, StreamNumber};
use everstep_store::{BoxFuture, ListPage, ListQuery, RunRow, StoreError};

use super::error::{AnswerError, BulkReport, ControlError, ReadError, SendError, StartError};
use super::records::Records;

/// Sends requests to an engine: starts runs, finds them, watches and controls them.
///
/// An [`Engine`](crate::Engine) dereferences to the client of its own runs. `Client::connect` creates
/// the client of a server.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) port: Arc<dyn Port>,
}

impl Client {
    pub(crate) fn new(port: Arc<dyn Port>) -> Self {
        Self { port }
    }
}

/// The future of a request.
pub(crate) type Asking<'a, T, E> = BoxFuture<'a, Result<T, E>>;

/// A run that was started, or existed already.
pub(crate) struct Begun {
    pub(crate) run: RunId,
    /// Whether this start created it.
    pub(crate) created: bool,
    /// Its stream, if known, which saves a lookup when waiting for the run.
    pub(crate) stream: Option<StreamNumber>,
}

/// The end of a run.
pub(crate) enum End {
    Completed(Payload),
    Failed(Failure),
    Cancelled(Option<String>),
    Terminated(Option<String>),
    RollbackFailed {
        error: Failure,
        rollback_error: Failure,
    },
}

/// The runs of a bulk request.
pub(crate) enum Which {
    Listed(ListQuery),
    Named(Vec<RunId>),
}

/// Callback that receives progress.
pub(crate) type Listener = Box<dyn FnMut(BulkProgress) + Send>;

/// All requests to an engine.
pub(crate) trait Port: Debug + Send + Sync {
    fn start(&self, start: Start) -> Asking<'_, Begun, StartError>;
    fn send(&self, event: SendEvent) -> Asking<'_, Sent, SendError>;
    /// Sends an event and waits for the reply. `None` if the run ended without one.
    fn ask(&self, event: SendEvent) -> Asking<'_, Option<Payload>, SendError>;
    fn answer(&self, answer: Answer) -> Asking<'_, (), AnswerError>;
    fn row<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunRow, ReadError>;
    fn inspect<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunInfo, ReadError>;
    fn why<'a>(&'a self, run: &'a RunId) -> Asking<'a, Why, ReadError>;
    fn journal<'a>(&'a self, run: &'a RunId) -> Asking<'a, Vec<Entry>, ReadError>;
    fn records<'a>(&'a self, run: &'a RunId, from: RecordNumber) -> Asking<'a, Records, ReadError>;
    /// Waits until the run has ended.
    fn ended<'a>(
        &'a self,
        run: &'a RunId,
        known: Option<StreamNumber>,
    ) -> Asking<'a, End, ReadError>;
    fn list(&self, query: ListQuery) -> Asking<'_, ListPage, ReadError>;
    fn control<'a>(
        &'a self,
        run: &'a RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError>;
    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        at: &'a Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError>;
    fn revive<'a>(
        &'a self,
        run: &'a RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError>;
    /// The outcome is about the new run.
    fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Asking<'_, Done, ControlError>;
    fn bulk(
        &self,
        which: Which,
        control: Control,
        origin: RequestOrigin,
        progress: Listener,
    ) -> Asking<'_, BulkReport, ControlError>;
    /// Sleeps on the caller's clock.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The engine in this process.
impl Port for everstep_engine::Engine {
    fn start(&self, start: Start) -> Asking<'_, Begun, StartError> {
        Box::pin(async move {
            let started = self.start(start).await?;
            Ok(Begun {
                run: started.run,
                created: started.created,
                stream: Some(started.stream),
            })
        })
    }

    fn send(&self, event: SendEvent) -> Asking<'_, Sent, SendError> {
        Box::pin(async move { Ok(self.send(event).await?) })
    }

    fn ask(&self, event: SendEvent) -> Asking<'_, Option<Payload>, SendError> {
        Box::pin(async move { Ok(self.ask(event).await?.answer().await?) })
    }

    fn answer(&self, answer: Answer) -> Asking<'_, (), AnswerError> {
        Box::pin(async move {
            self.answer(answer).await?;
            Ok(())
        })
    }

    fn row<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunRow, ReadError> {
        Box::pin(async move { Ok(self.row(run).await?) })
    }

    fn inspect<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunInfo, ReadError> {
        Box::pin(async move { Ok(self.inspect(run).await?) })
    }

    fn why<'a>(&'a self, run: &'a RunId) -> Asking<'a, Why, ReadError> {
        Box::pin(async move { Ok(self.why(run).await?) })
    }

    fn journal<'a>(&'a self, run: &'a RunId) -> Asking<'a, Vec<Entry>, ReadError> {
        Box::pin(async move { Ok(self.journal(run).await?) })
    }

    fn records<'a>(&'a self, run: &'a RunId, from: RecordNumber) -> Asking<'a, Records, ReadError> {
        Box::pin(async move { Ok(Records::new(self.records(run, from).await?)) })
    }

    fn ended<'a>(
        &'a self,
        run: &'a RunId,
        known: Option<StreamNumber>,
    ) -> Asking<'a, End, ReadError> {
        Box::pin(async move {
            match self.ended(run, known).await?.body {
                Body::Completed(end) => Ok(End::Completed(end.result)),
                Body::Failed(end) => Ok(End::Failed(end.error)),
                Body::Cancelled(end) => Ok(End::Cancelled(end.reason)),
                Body::Terminated(end) => Ok(End::Terminated(end.reason)),
                Body::RollbackFailed(end) => Ok(End::RollbackFailed {
                    error: end.error,
                    rollback_error: end.rollback_error,
                }),
                _ => {
                    let error = StoreError::Corrupt {
                        place: format!("the journal of run `{run}`"),
                        detail: "it is closed without an end".to_owned(),
                    };
                    Err(Unavailable::from(error).into())
                }
            }
        })
    }

    fn list(&self, query: ListQuery) -> Asking<'_, ListPage, ReadError> {
        Box::pin(async move { Ok(self.list(query).await?) })
    }

    fn control<'a>(
        &'a self,
        run: &'a RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError> {
        Box::pin(async move { Ok(self.control(run, control, origin).await?) })
    }

    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        at: &'a Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError> {
        Box::pin(async move { Ok(self.settle(run, at, settlement, origin).await?) })
    }

    fn revive<'a>(
        &'a self,
        run: &'a RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError> {
        Box::pin(async move { Ok(self.revive(run, revival, origin).await?) })
    }

    fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Asking<'_, Done, ControlError> {
        Box::pin(async move { Ok(self.fork(fork, origin).await?) })
    }

    fn bulk(
        &self,
        which: Which,
        control: Control,
        origin: RequestOrigin,
        progress: Listener,
    ) -> Asking<'_, BulkReport, ControlError> {
        Box::pin(async move {
            let runs = match which {
                Which::Listed(query) => self.listed(query).await?,
                Which::Named(runs) => runs,
            };
            let report = self.bulk(runs, control, origin, progress).await;
            let runs = report.runs.into_iter();
            let runs = runs.map(|(run, result)| (run, result.map_err(ControlError::from)));
            Ok(BulkReport {
                runs: runs.collect(),
            })
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.runtime().sleep(duration)
    }
}
