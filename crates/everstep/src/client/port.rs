//! The interface between requests and an engine, which may be in this process or behind a server.
//! Handles, lists and requests depend only on this trait.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{
    Answer, BulkProgress, Control, Done, ForkRun, RequestOrigin, Revival, RunInfo, SendEvent, Sent,
    Settlement, Start,
};
use everstep_inspect::Why;

use super::{BulkReport, EngineError};
use everstep_model::{Body, Entry, Failure, Location, Payload, RecordNumber, RunId, StreamNumber};
use everstep_store::{BoxFuture, ListPage, ListQuery, RunRow};

use super::Records;

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
pub(crate) type Asking<'a, T> = BoxFuture<'a, Result<T, EngineError>>;

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
    fn start(&self, start: Start) -> Asking<'_, Begun>;
    fn send(&self, event: SendEvent) -> Asking<'_, Sent>;
    /// Sends an event and waits for the reply. `None` if the run ended without one.
    fn ask(&self, event: SendEvent) -> Asking<'_, Option<Payload>>;
    fn answer(&self, answer: Answer) -> Asking<'_, ()>;
    fn row<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunRow>;
    fn inspect<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunInfo>;
    fn why<'a>(&'a self, run: &'a RunId) -> Asking<'a, Why>;
    fn journal<'a>(&'a self, run: &'a RunId) -> Asking<'a, Vec<Entry>>;
    fn records<'a>(&'a self, run: &'a RunId, from: RecordNumber) -> Asking<'a, Records>;
    /// Waits until the run has ended.
    fn ended<'a>(&'a self, run: &'a RunId, known: Option<StreamNumber>) -> Asking<'a, End>;
    fn list(&self, query: ListQuery) -> Asking<'_, ListPage>;
    fn control<'a>(
        &'a self,
        run: &'a RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Asking<'a, Done>;
    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        at: &'a Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Asking<'a, Done>;
    fn revive<'a>(
        &'a self,
        run: &'a RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Asking<'a, Done>;
    /// The outcome is about the new run.
    fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Asking<'_, Done>;
    fn bulk(
        &self,
        which: Which,
        control: Control,
        origin: RequestOrigin,
        progress: Listener,
    ) -> Asking<'_, BulkReport>;
    /// Sleeps on the caller's clock.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The engine in this process.
impl Port for everstep_engine::Engine {
    fn start(&self, start: Start) -> Asking<'_, Begun> {
        Box::pin(async move {
            let started = self.start(start).await?;
            Ok(Begun {
                run: started.run,
                created: started.created,
                stream: Some(started.stream),
            })
        })
    }

    fn send(&self, event: SendEvent) -> Asking<'_, Sent> {
        Box::pin(async move { Ok(self.send(event).await?) })
    }

    fn ask(&self, event: SendEvent) -> Asking<'_, Option<Payload>> {
        Box::pin(async move { Ok(self.ask(event).await?.answer().await?) })
    }

    fn answer(&self, answer: Answer) -> Asking<'_, ()> {
        Box::pin(async move {
            self.answer(answer).await?;
            Ok(())
        })
    }

    fn row<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunRow> {
        Box::pin(async move { Ok(self.row(run).await?) })
    }

    fn inspect<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunInfo> {
        Box::pin(async move { Ok(self.inspect(run).await?) })
    }

    fn why<'a>(&'a self, run: &'a RunId) -> Asking<'a, Why> {
        Box::pin(async move { Ok(self.why(run).await?) })
    }

    fn journal<'a>(&'a self, run: &'a RunId) -> Asking<'a, Vec<Entry>> {
        Box::pin(async move { Ok(self.journal(run).await?) })
    }

    fn records<'a>(&'a self, run: &'a RunId, from: RecordNumber) -> Asking<'a, Records> {
        Box::pin(async move { Ok(Records::new(self.records(run, from).await?)) })
    }

    fn ended<'a>(&'a self, run: &'a RunId, known: Option<StreamNumber>) -> Asking<'a, End> {
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
                _ => Err(EngineError::Journal {
                    run: run.clone(),
                    detail: "it is closed without an end".to_owned(),
                }),
            }
        })
    }

    fn list(&self, query: ListQuery) -> Asking<'_, ListPage> {
        Box::pin(async move { Ok(self.list(query).await?) })
    }

    fn control<'a>(
        &'a self,
        run: &'a RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Asking<'a, Done> {
        Box::pin(async move { Ok(self.control(run, control, origin).await?) })
    }

    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        at: &'a Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Asking<'a, Done> {
        Box::pin(async move { Ok(self.settle(run, at, settlement, origin).await?) })
    }

    fn revive<'a>(
        &'a self,
        run: &'a RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Asking<'a, Done> {
        Box::pin(async move { Ok(self.revive(run, revival, origin).await?) })
    }

    fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Asking<'_, Done> {
        Box::pin(async move { Ok(self.fork(fork, origin).await?) })
    }

    fn bulk(
        &self,
        which: Which,
        control: Control,
        origin: RequestOrigin,
        progress: Listener,
    ) -> Asking<'_, BulkReport> {
        Box::pin(async move {
            let runs = match which {
                Which::Listed(query) => self.listed(query).await?,
                Which::Named(runs) => runs,
            };
            let report = self.bulk(runs, control, origin, progress).await;
            let runs = report.runs.into_iter();
            let runs = runs.map(|(run, result)| (run, result.map_err(EngineError::from)));
            Ok(BulkReport {
                runs: runs.collect(),
            })
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.runtime().sleep(duration)
    }
}
