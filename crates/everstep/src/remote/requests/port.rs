//! Requests as calls of the workflow API.

use std::collections::HashSet;
use std::time::Duration;

use everstep_engine::{
    Answer, BulkProgress, Control, ControlError as ControlRejection, Done, RequestOrigin,
    RunFinished, RunInfo, SendError as SendRejection, SendEvent, Sent, Settlement, Start,
    UnknownRun,
};
use everstep_inspect::{Overview, Why};
use everstep_model::{
    Entry, ErrorCode, Payload, RecordFeed, RecordNumber, RunId, StreamNumber, entry_to_json, limits,
};
use everstep_protocol::client::{Call, CallError, segment};
use everstep_protocol::workflow::{
    AnswerAccepted, BulkReport as BulkAnswer, BulkRequest, BulkRun, CancelRequest, ControlRequest,
    EditRequest, EventAnswer, EventOutcome, Filter, ForkRequest, RestartRequest, RunPage,
    SkipRequest, StartAnswer, StartRequest, WhyView,
};
use everstep_store::{BoxFuture, ListPage, ListQuery, RunRow};
use http::{HeaderName, Method};
use serde::Serialize;

use super::feed::ServerFeed;
use super::tail::ServerTail;
use super::{HttpPort, at, millis, of_call, of_problem, views};
use crate::client::{
    AnswerError, BulkReport, BulkTarget, Command, ControlError, FeedReader, Port, ProgressListener,
    ReadError, Records, Response, SendError, ServerError, StartError, StartedRun, WaitError,
};

/// The header with the sender's own id.
const DEDUP_ID: HeaderName = HeaderName::from_static("idempotency-key");
/// The header with the trace context of a start.
const TRACE: HeaderName = HeaderName::from_static("traceparent");
/// The header with the place at which the next page begins.
const CURSOR: &str = "everstep-cursor";
/// The number of runs in one bulk request. Its progress is reported when it is answered.
const BULK_RUNS: usize = 100;
/// How long the server may take to receive and store an imported journal.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(300);
/// The header with the name of the actor, for servers that do not identify callers by keys.
const ACTOR: HeaderName = HeaderName::from_static("everstep-actor");

impl HttpPort {
    async fn page(&self, query: &ListQuery) -> Result<ListPage, ServerError> {
        let path = format!("workflows?{}", list_query(query));
        let page: RunPage = self.get(path).await?;
        let next = page.cursor.map(|cursor| cursor.parse()).transpose();
        Ok(ListPage {
            rows: page.runs.into_iter().map(views::row).collect(),
            next: next.map_err(|error| ServerError {
                code: ErrorCode::InvalidOptions,
                message: format!("{error}"),
            })?,
        })
    }

    /// Returns the records of one generation of a run, across all pages.
    async fn records_of(&self, run: &RunId, path: &str) -> Result<Vec<Entry>, ReadError> {
        let mut entries = Vec::new();
        let mut query = Some(String::new());
        while let Some(of_page) = query {
            let answer = self.send(Call::get(format!("{path}{of_page}"))).await?;
            entries.extend(views::journal(run, &answer.body)?);
            let cursor = answer.header(CURSOR);
            query = cursor.map(|cursor| format!("?cursor={}", segment(cursor)));
        }
        Ok(entries)
    }

    /// Returns all runs that match a query, across all pages.
    async fn listed(&self, mut query: ListQuery) -> Result<Vec<RunId>, ServerError> {
        query.limit = limits::LIST_PAGE_MAX;
        let mut runs = Vec::new();
        loop {
            let page = self.page(&query).await?;
            runs.extend(page.rows.into_iter().map(|row| row.id));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(runs),
            }
        }
    }

    /// The error of an event that was rejected. If the run has ended, reads its final status.
    async fn rejected(&self, run: &RunId, error: ServerError) -> SendError {
        if error.code != ErrorCode::RunFinished {
            return error.into();
        }
        match self.row(run).await {
            Ok(row) => SendRejection::Finished(RunFinished {
                run: run.clone(),
                status: row.status,
            })
            .into(),
            Err(_) => error.into(),
        }
    }

    /// Posts a control request to a path below the run.
    async fn post(
        &self,
        run: &RunId,
        path: &str,
        body: &(impl Serialize + Sync),
        by: Option<&str>,
    ) -> Result<Done, ControlError> {
        let call = Call::post(format!("{}/{path}", at(run))).json(body);
        self.perform(call.map_err(of_call)?, by).await
    }

    async fn perform(&self, call: Call, by: Option<&str>) -> Result<Done, ControlError> {
        let call = with_header(call, ACTOR, by.map(segment));
        Ok(views::done(self.call(call).await?))
    }
}

impl Port for HttpPort {
    fn start(&self, start: Start) -> Response<'_, StartedRun, StartError> {
        Box::pin(async move {
            let mut request = StartRequest::new(start.workflow.as_str(), start.input);
            request.id = start.id.map(|id| id.to_string());
            request.idempotency_key = start.idempotency_key;
            request.tags = start.tags;
            request.deadline = start.deadline.map(millis);
            request.execution_retries = start.execution_retries;
            request.strict = start.strict;
            let call = Call::post("workflows").json(&request).map_err(of_call)?;
            let call = with_header(call, TRACE, start.trace.map(|parent| parent.to_string()));
            let call = with_header(call, ACTOR, start.by.as_deref().map(segment));
            let answer: StartAnswer = self.call(call).await?;
            Ok(StartedRun {
                run: answer.id,
                created: answer.created,
                stream: None,
            })
        })
    }

    fn send(&self, event: SendEvent) -> Response<'_, Sent, SendError> {
        Box::pin(async move {
            let run = event.run.clone();
            let sent: EventAnswer = match self.call(event_call(event, "")).await {
                Err(error) => return Err(self.rejected(&run, error).await),
                Ok(sent) => sent,
            };
            let number = RecordNumber(sent.number);
            Ok(match sent.outcome {
                EventOutcome::Accepted => Sent::Accepted(number),
                EventOutcome::Duplicate => Sent::Duplicate(number),
            })
        })
    }

    fn request(&self, mut event: SendEvent) -> Response<'_, Option<Payload>, SendError> {
        Box::pin(async move {
            // With an id of its own the event can be sent again and takes effect once.
            let (a, b) = (self.runtime.random(), self.runtime.random());
            event
                .dedup_id
                .get_or_insert_with(|| format!("ask:{a:016x}{b:016x}"));
            let query = format!("?reply={}", millis(self.wait));
            loop {
                let call = event_call(event.clone(), &query);
                match self.long_poll(call).await {
                    Err(error) if error.code == ErrorCode::NoReply => return Ok(None),
                    Err(error) => return Err(self.rejected(&event.run, error).await),
                    Ok(answer) => {
                        let answer: EventAnswer = answer.json().map_err(of_call)?;
                        if answer.reply.is_some() {
                            return Ok(answer.reply);
                        }
                    }
                }
            }
        })
    }

    fn answer(&self, answer: Answer) -> Response<'_, (), AnswerError> {
        Box::pin(async move {
            let rpc = segment(&answer.rpc.to_string());
            let call = Call::post(format!("{}/rpc/{rpc}", at(&answer.run)))
                .bytes("application/json", answer.answer.as_bytes().to_vec());
            let call = with_header(call, DEDUP_ID, answer.dedup_id);
            let call = with_header(call, ACTOR, answer.by.as_deref().map(segment));
            self.call::<AnswerAccepted>(call).await?;
            Ok(())
        })
    }

    fn row<'a>(&'a self, run: &'a RunId) -> Response<'a, RunRow, ReadError> {
        Box::pin(async move { Ok(views::row(self.get(at(run)).await?)) })
    }

    fn inspect<'a>(&'a self, run: &'a RunId) -> Response<'a, RunInfo, ReadError> {
        Box::pin(async move {
            let row = self.row(run).await?;
            let overview = Overview::of(&self.redacted_journal(run).await?);
            Ok(RunInfo { row, overview })
        })
    }

    fn why<'a>(&'a self, run: &'a RunId) -> Response<'a, Why, ReadError> {
        Box::pin(async move {
            let why: WhyView = self.get(format!("{}/why", at(run))).await?;
            Ok(Why {
                status: why.status,
                reasons: why.reasons,
                deadline: why.deadline,
            })
        })
    }

    fn journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError> {
        Box::pin(async move { self.records_of(run, &format!("{}/journal", at(run))).await })
    }

    fn redacted_journal<'a>(&'a self, run: &'a RunId) -> Response<'a, Vec<Entry>, ReadError> {
        Box::pin(async move { self.records_of(run, &format!("{}/records", at(run))).await })
    }

    fn records<'a>(
        &'a self,
        run: &'a RunId,
        from: RecordNumber,
    ) -> Response<'a, Records, ReadError> {
        Box::pin(async move {
            self.row(run).await?;
            let tail = ServerTail::new(self.clone(), run.clone(), from);
            Ok(Records::new(tail))
        })
    }

    fn feed(&self, feed: RecordFeed, from: Option<String>) -> Response<'_, FeedReader, ReadError> {
        Box::pin(async move {
            let source = ServerFeed::new(self.clone(), feed, from);
            source.check().await?;
            Ok(FeedReader::new(source))
        })
    }

    fn result<'a>(
        &'a self,
        run: &'a RunId,
        _: Option<StreamNumber>,
    ) -> Response<'a, Payload, WaitError> {
        Box::pin(async move {
            let path = format!("{}?wait={}", at(run), millis(self.wait));
            loop {
                let answer = self.long_poll(Call::get(path.clone())).await;
                let view = answer.and_then(|answer| answer.json().map_err(of_call));
                if let Some(result) = views::result(view.map_err(ReadError::from)?) {
                    return result;
                }
            }
        })
    }

    fn list(&self, query: ListQuery) -> Response<'_, ListPage, ReadError> {
        Box::pin(async move { Ok(self.page(&query).await?) })
    }

    fn control(
        &self,
        run: RunId,
        command: Command,
        origin: RequestOrigin,
    ) -> Response<'_, Done, ControlError> {
        Box::pin(async move {
            let RequestOrigin { by, reason } = origin;
            let by = by.as_deref();
            match command {
                Command::Control(Control::Delete) => {
                    let query = reason.map(|reason| format!("?reason={}", segment(&reason)));
                    let path = at(&run) + &query.unwrap_or_default();
                    self.perform(Call::new(Method::DELETE, path), by).await
                }
                Command::Control(Control::Cancel { rollback }) => {
                    let request = CancelRequest { reason, rollback };
                    self.post(&run, "cancel", &request, by).await
                }
                Command::Control(control) => {
                    let verb = control.verb().to_string();
                    let request = ControlRequest { reason };
                    self.post(&run, &verb, &request, by).await
                }
                Command::Settle(at, settlement) => {
                    let at = segment(&at.to_string());
                    let path = |verb: &str| format!("steps/{at}/{verb}");
                    match settlement {
                        Settlement::Skip(result) => {
                            let request = SkipRequest { result, reason };
                            self.post(&run, &path("skip"), &request, by).await
                        }
                        Settlement::Edit(result) => {
                            let request = EditRequest { result, reason };
                            self.post(&run, &path("edit"), &request, by).await
                        }
                        Settlement::Fail(message) => {
                            let reason = Some(message);
                            let request = ControlRequest { reason };
                            self.post(&run, &path("fail"), &request, by).await
                        }
                    }
                }
                Command::RestartFrom { at, edited } => {
                    let request = RestartRequest {
                        reason,
                        from: Some(at.to_string()),
                        result: edited,
                    };
                    self.post(&run, "restart", &request, by).await
                }
                Command::Fork { id, at, edited } => {
                    let request = ForkRequest {
                        id: id.map(|id| id.to_string()),
                        from: at.map(|at| at.to_string()),
                        result: edited,
                        reason,
                    };
                    self.post(&run, "fork", &request, by).await
                }
            }
        })
    }

    fn import(&self, run: RunId, journal: Vec<Entry>) -> Response<'_, Done, ControlError> {
        Box::pin(async move {
            let mut lines = String::new();
            for entry in &journal {
                let line = entry_to_json(entry);
                let line = line.map_err(|error| CallError::Unserializable(error.to_string()));
                lines.push_str(&line.map_err(of_call)?);
                lines.push('\n');
            }
            let call = Call::new(Method::PUT, at(&run) + "/journal").timeout(IMPORT_TIMEOUT);
            self.perform(call.bytes("application/x-ndjson", lines), None)
                .await
        })
    }

    fn bulk(
        &self,
        target: BulkTarget,
        control: Control,
        origin: RequestOrigin,
        mut progress: ProgressListener,
    ) -> Response<'_, BulkReport, ControlError> {
        Box::pin(async move {
            let ids = match target {
                BulkTarget::Runs(runs) => runs,
                BulkTarget::Query(query) => self.listed(query).await?,
            };
            let mut known = HashSet::new();
            let ids: Vec<RunId> = ids
                .into_iter()
                .filter(|id| known.insert(id.clone()))
                .collect();
            let mut report = BulkReport::default();
            let mut refused = 0;
            for some in ids.chunks(BULK_RUNS) {
                let request = BulkRequest {
                    verb: control.verb(),
                    ids: Some(some.iter().map(ToString::to_string).collect()),
                    filter: None,
                    reason: origin.reason.clone(),
                    rollback: matches!(control, Control::Cancel { rollback: true }),
                };
                let call = Call::post("bulk").json(&request).map_err(of_call)?;
                let call = with_header(call, ACTOR, origin.by.as_deref().map(segment));
                let answer: BulkAnswer = self.call(call).await?;
                for (run, result) in answer.runs.into_iter().map(outcome) {
                    refused += usize::from(result.is_err());
                    report.runs.push((run, result));
                    progress(BulkProgress {
                        done: report.runs.len(),
                        total: ids.len(),
                        refused,
                    });
                }
            }
            Ok(report)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.runtime.sleep(duration)
    }
}

fn event_call(event: SendEvent, query: &str) -> Call {
    let name = segment(event.name.as_str());
    let call = Call::post(format!("{}/events/{name}{query}", at(&event.run)))
        .bytes("application/json", event.payload.as_bytes().to_vec());
    let call = with_header(call, DEDUP_ID, event.dedup_id);
    with_header(call, ACTOR, event.by.as_deref().map(segment))
}

fn with_header(call: Call, name: HeaderName, value: Option<String>) -> Call {
    match value {
        Some(value) => call.header(name, &value),
        None => call,
    }
}

fn filter(query: &ListQuery) -> Filter {
    Filter {
        workflows: query.workflows.iter().map(ToString::to_string).collect(),
        statuses: query.statuses.iter().map(ToString::to_string).collect(),
        tag: query.tag.clone(),
        created_from: query.created_from.map(|time| time.to_string()),
        created_before: query.created_before.map(|time| time.to_string()),
    }
}

fn list_query(query: &ListQuery) -> String {
    let filter = filter(query);
    let mut parameters = vec![("limit", query.limit.to_string())];
    parameters.extend(filter.workflows.into_iter().map(|name| ("type", name)));
    parameters.extend(filter.statuses.into_iter().map(|status| ("status", status)));
    parameters.extend(filter.tag.map(|tag| ("tag", tag)));
    parameters.extend(filter.created_from.map(|time| ("createdFrom", time)));
    parameters.extend(filter.created_before.map(|time| ("createdBefore", time)));
    let cursor = query.cursor.as_ref();
    parameters.extend(cursor.map(|cursor| ("cursor", cursor.to_string())));
    let parameters = parameters.iter();
    let pairs: Vec<_> = parameters
        .map(|(name, value)| format!("{name}={}", segment(value)))
        .collect();
    pairs.join("&")
}

/// Converts the outcome of a bulk request for one run.
fn outcome(run: BulkRun) -> (RunId, Result<Done, ControlError>) {
    let result = match (run.done, run.problem) {
        (Some(done), _) => Ok(views::done(done)),
        (None, Some(problem)) => Err(of_problem(problem).into()),
        (None, None) => Err(ControlRejection::UnknownRun(UnknownRun(run.id.clone())).into()),
    };
    (run.id, result)
}
