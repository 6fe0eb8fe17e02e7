//! The interface between requests and an engine, which may be in this process or behind a server.
//! Handles, lists and requests depend only on this trait.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{
    Answer, BulkProgress, Control, Done, ForkRun, ImportRun, RequestOrigin, Revival, RunInfo,
    SendEvent, Sent, Settlement, Start, Unavailable,
};
use everstep_inspect::Why;
use everstep_model::{
    Body, Entry, Location, Payload, RecordFeed, RecordNumber, RunId, StreamNumber,
};
use everstep_store::{BoxFuture, ListPage, ListQuery, RunRow, StoreError};

use super::Response;
use super::bulk_report::BulkReport;
use super::error::{AnswerError, ControlError, ReadError, SendError, StartError, WaitError};
use super::feed::{self, FeedReader};
use super::records::Records;

/// Sends requests to an engine: starts runs, finds them, watches and controls them.
///
/// An [`Engine`](crate::Engine) dereferences to the client of its own runs. `Client::connect`
/// creates the client of a server.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) port: Arc<dyn Port>,
}

impl Client {
    pub(crate) fn new(port: Arc<dyn Port>) -> Self {
        Self { port }
    }
}

/// A run that was started, or existed already.
pub(crate) struct StartedRun {
    pub(crate) run: RunId,
    /// Whether this start created it.
    pub(crate) created: bool,
    /// Its stream, if known, which saves a lookup when waiting for the run.
    pub(crate) stream: Option<StreamNumber>,
}

/// A control request about one run.
#[derive(Debug)]
pub(crate) enum Command {
    Control(Control),
    Settle(Location, Settlement),
    RestartFrom {
        at: Location,
        edited: Option<Payload>,
    },
    /// The outcome is about the new run.
    Fork {
        id: Option<RunId>,
        at: Option<Location>,
        edited: Option<Payload>,
    },
}

/// The runs of a bulk request.
pub(crate) enum BulkTarget {
    Query(ListQuery),
    Runs(Vec<RunId>),
}

pub(crate) type ProgressListener = Box<dyn FnMut(BulkProgress) + Send>;

/// All requests to an engine.
pub(crate) trait Port: Debug + Send + Sync {
    fn start(&self, start: Start) -> Response<'_, StartedRun, StartError>;
    fn send(&self, event: SendEvent) -> Response<'_, Sent, SendError>;
    /// Sends an event and waits for the reply. `None` if the run ended without one.
    fn request(&self, event: SendEvent) -> Response<'_, Option<Payload>, SendError>;
    fn answer(&self, answer: Answer) -> Response<'_, (), AnswerError>;
    fn row<'a>(&'a self, run: &'a RunId) -> Response<'a, RunRow, ReadError>;
    fn inspect<'a>(&'a self, run: &'a RunId) -> Response<'a, RunInfo, ReadError>;
    fn why<'a>(&'a self, run: &'a RunId) -> Response<'a, Why, ReadError>;
    fn journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError>;
    /// Returns the journal for readers that show no results of sensitive steps. A server returns it
    /// without them, to more callers.
    fn redacted_journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError>;
    fn records<'a>(
        &'a self,
        run: &'a RunId,
        from: RecordNumber,
    ) -> Response<'a, Records, ReadError>;
    /// Opens a feed at a position, or at its start.
    fn feed(&self, feed: RecordFeed, from: Option<String>) -> Response<'_, FeedReader, ReadError>;
    /// Waits until the run has ended.
    fn result<'a>(
        &'a self,
        run: &'a RunId,
        known: Option<StreamNumber>,
    ) -> Response<'a, Payload, WaitError>;
    fn list(&self, query: ListQuery) -> Response<'_, ListPage, ReadError>;
    fn control(
        &self,
        run: RunId,
        command: Command,
        origin: RequestOrigin,
    ) -> Response<'_, Done, ControlError>;
    fn import(&self, run: RunId, journal: Vec<Entry>) -> Response<'_, Done, ControlError>;
    fn bulk(
        &self,
        target: BulkTarget,
        control: Control,
        origin: RequestOrigin,
        progress: ProgressListener,
    ) -> Response<'_, BulkReport, ControlError>;
    /// Sleeps on the caller's clock.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The engine in this process.
impl Port for everstep_engine::Engine {
    fn start(&self, start: Start) -> Response<'_, StartedRun, StartError> {
        Box::pin(async move {
            let started = self.start(start).await?;
            Ok(StartedRun {
                run: started.run,
                created: started.created,
                stream: Some(started.stream),
            })
        })
    }

    fn send(&self, event: SendEvent) -> Response<'_, Sent, SendError> {
        Box::pin(async move { Ok(self.send(event).await?) })
    }

    fn request(&self, event: SendEvent) -> Response<'_, Option<Payload>, SendError> {
        Box::pin(async move { Ok(self.ask(event).await?.answer().await?) })
    }

    fn answer(&self, answer: Answer) -> Response<'_, (), AnswerError> {
        Box::pin(async move {
            self.answer(answer).await?;
            Ok(())
        })
    }

    fn row<'a>(&'a self, run: &'a RunId) -> Response<'a, RunRow, ReadError> {
        Box::pin(async move { Ok(self.row(run).await?) })
    }

    fn inspect<'a>(&'a self, run: &'a RunId) -> Response<'a, RunInfo, ReadError> {
        Box::pin(async move { Ok(self.inspect(run).await?) })
    }

    fn why<'a>(&'a self, run: &'a RunId) -> Response<'a, Why, ReadError> {
        Box::pin(async move { Ok(self.why(run, None).await?) })
    }

    fn journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError> {
        Box::pin(async move { Ok(self.journal(run).await?) })
    }

    fn redacted_journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError> {
        Port::journal(self, run)
    }

    fn records<'a>(
        &'a self,
        run: &'a RunId,
        from: RecordNumber,
    ) -> Response<'a, Records, ReadError> {
        Box::pin(async move { Ok(Records::new(self.records(run, None, from).await?)) })
    }

    fn feed(&self, feed: RecordFeed, from: Option<String>) -> Response<'_, FeedReader, ReadError> {
        Box::pin(feed::of_engine(self, feed, from))
    }

    fn result<'a>(
        &'a self,
        run: &'a RunId,
        known: Option<StreamNumber>,
    ) -> Response<'a, Payload, WaitError> {
        Box::pin(async move {
            let end = self.ended(run, known).await.map_err(ReadError::from)?;
            Err(match end.body {
                Body::Completed(end) => return Ok(end.result),
                Body::Failed(end) => WaitError::Failed(end.error),
                Body::Cancelled(end) => WaitError::Cancelled(end.reason),
                Body::Terminated(end) => WaitError::Terminated(end.reason),
                Body::RollbackFailed(end) => WaitError::RollbackFailed {
                    error: end.error,
                    rollback_error: end.rollback_error,
                },
                _ => {
                    let error = StoreError::Corrupt {
                        place: format!("the journal of run `{run}`"),
                        detail: "it is closed without an end".to_owned(),
                    };
                    ReadError::from(Unavailable::from(error)).into()
                }
            })
        })
    }

    fn list(&self, query: ListQuery) -> Response<'_, ListPage, ReadError> {
        Box::pin(async move { Ok(self.list(query).await?) })
    }

    fn control(
        &self,
        run: RunId,
        command: Command,
        origin: RequestOrigin,
    ) -> Response<'_, Done, ControlError> {
        Box::pin(async move {
            Ok(match command {
                Command::Control(control) => self.control(&run, control, origin).await,
                Command::Settle(at, settlement) => self.settle(&run, &at, settlement, origin).await,
                Command::RestartFrom { at, edited } => {
                    let revival = Revival::RestartFrom { at, edited };
                    self.revive(&run, revival, origin).await
                }
                Command::Fork { id, at, edited } => {
                    let fork = ForkRun {
                        run,
                        id,
                        at,
                        edited,
                    };
                    self.fork(fork, origin).await
                }
            }?)
        })
    }

    fn import(&self, run: RunId, journal: Vec<Entry>) -> Response<'_, Done, ControlError> {
        let import = ImportRun {
            run,
            generation: None,
            journal,
        };
        Box::pin(async move { Ok(self.import(import).await?) })
    }

    fn bulk(
        &self,
        target: BulkTarget,
        control: Control,
        origin: RequestOrigin,
        mut progress: ProgressListener,
    ) -> Response<'_, BulkReport, ControlError> {
        Box::pin(async move {
            let runs = match target {
                BulkTarget::Query(query) => self.listed(query).await?,
                BulkTarget::Runs(runs) => runs,
            };
            let mut report = BulkReport::default();
            let each = |at, run, result: Result<Done, everstep_engine::ControlError>| {
                report.runs.push((run, result.map_err(ControlError::from)));
                progress(at);
            };
            self.bulk(runs, control, origin, each).await;
            Ok(report)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.runtime().sleep(duration)
    }
}
