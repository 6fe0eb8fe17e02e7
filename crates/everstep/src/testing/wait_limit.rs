//! Limits how long a test waits for the end of a run. The virtual clock jumps from timer to timer,
//! so without a limit a test would wait forever for a run that never ends.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Answer, Control, Done, RequestOrigin, RunInfo, SendEvent, Sent, Start};
use everstep_inspect::Why;
use everstep_model::{Entry, Payload, RecordFeed, RecordNumber, RunId, StreamNumber};
use everstep_store::{BoxFuture, ListPage, ListQuery, RunRow};
use futures_util::future::{Either, select};

use crate::client::{
    AnswerError, BulkReport, BulkTarget, Command, ControlError, FeedReader, Port, ProgressListener,
    ReadError, Records, Response, SendError, StartError, StartedRun, WaitError,
};

/// The requests of a test engine.
#[derive(Debug)]
pub(super) struct LimitedPort {
    pub(super) port: Arc<dyn Port>,
    pub(super) limit: Duration,
}

impl Port for LimitedPort {
    fn result<'a>(
        &'a self,
        run: &'a RunId,
        known: Option<StreamNumber>,
    ) -> Response<'a, Payload, WaitError> {
        Box::pin(async move {
            let result = self.port.result(run, known);
            match select(result, self.port.sleep(self.limit)).await {
                Either::Left((result, _)) => result,
                Either::Right(_) => {
                    let (limit, why) = (self.limit, explain(self.port.why(run).await));
                    panic!(
                        "run `{run}` did not end within {limit:?} of virtual time (TestEngineBuilder::wait_limit); {why}"
                    );
                }
            }
        })
    }

    fn start(&self, start: Start) -> Response<'_, StartedRun, StartError> {
        self.port.start(start)
    }

    fn send(&self, event: SendEvent) -> Response<'_, Sent, SendError> {
        self.port.send(event)
    }

    fn request(&self, event: SendEvent) -> Response<'_, Option<Payload>, SendError> {
        self.port.request(event)
    }

    fn answer(&self, answer: Answer) -> Response<'_, (), AnswerError> {
        self.port.answer(answer)
    }

    fn row<'a>(&'a self, run: &'a RunId) -> Response<'a, RunRow, ReadError> {
        self.port.row(run)
    }

    fn inspect<'a>(&'a self, run: &'a RunId) -> Response<'a, RunInfo, ReadError> {
        self.port.inspect(run)
    }

    fn why<'a>(&'a self, run: &'a RunId) -> Response<'a, Why, ReadError> {
        self.port.why(run)
    }

    fn journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError> {
        self.port.journal(run)
    }

    fn redacted_journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError> {
        self.port.redacted_journal(run)
    }

    fn records<'a>(
        &'a self,
        run: &'a RunId,
        from: RecordNumber,
    ) -> Response<'a, Records, ReadError> {
        self.port.records(run, from)
    }

    fn feed(&self, feed: RecordFeed, from: Option<String>) -> Response<'_, FeedReader, ReadError> {
        self.port.feed(feed, from)
    }

    fn list(&self, query: ListQuery) -> Response<'_, ListPage, ReadError> {
        self.port.list(query)
    }

    fn control(
        &self,
        run: RunId,
        command: Command,
        origin: RequestOrigin,
    ) -> Response<'_, Done, ControlError> {
        self.port.control(run, command, origin)
    }

    fn import(&self, run: RunId, journal: Vec<Entry>) -> Response<'_, Done, ControlError> {
        self.port.import(run, journal)
    }

    fn bulk(
        &self,
        target: BulkTarget,
        control: Control,
        origin: RequestOrigin,
        progress: ProgressListener,
    ) -> Response<'_, BulkReport, ControlError> {
        self.port.bulk(target, control, origin, progress)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.port.sleep(duration)
    }
}

/// The reason why a run does not continue, or why it is unknown.
pub(super) fn explain(why: Result<Why, ReadError>) -> String {
    why.map_or_else(|error| error.to_string(), |why| why.to_string())
}
