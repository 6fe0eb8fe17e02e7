//! Everything that can be asked of an engine, asked of a server.

use std::time::Duration;

use everstep_engine::{
    Answer, Control, ControlError as ControlRejection, Done, ForkRun, RequestOrigin, Revival,
    RunFinished, RunInfo, SendError as SendRejection, SendEvent, Sent, Settlement, Start,
    UnknownRun,
};
use everstep_inspect::{Overview, Why};

use everstep_model::{ErrorCode, Location, Payload, RecordNumber, RunId, StreamNumber};
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::{
    AnswerAccepted, BulkReport as BulkAnswer, BulkRequest, CancelRequest, ControlAnswer,
    ControlRequest, EventAnswer, EventOutcome, Filter, ForkRequest, RestartRequest, RunPage,
    RunView, SettleRequest, StartAnswer, StartRequest, WhyView,
};
use everstep_store::{BoxFuture, ListPage, ListQuery, RunRow};
use http::{HeaderName, Method};

use super::error::{of_call, of_problem};
use super::tail::ServerTail;
use super::{HttpRequests, at, views};
use crate::client::{
    AnswerError, Asking, Begun, BulkReport, ControlError, End, Listener, Port, ReadError, Records,
    SendError, ServerError, StartError, Which,
};

/// The header with the sender's own id.
const DEDUP_ID: HeaderName = HeaderName::from_static("idempotency-key");
/// The header with the place in a trace from which something is asked.
const TRACE: HeaderName = HeaderName::from_static("traceparent");
/// The header with the name of whoever asks, for servers that do not know it by a key.
const ACTOR: HeaderName = HeaderName::from_static("everstep-actor");

impl HttpRequests {
    async fn view(&self, run: &RunId) -> Result<RunView, ServerError> {
        self.get(at(run)).await
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

    fn event(event: SendEvent, query: &str) -> Call {
        let name = segment(event.name.as_str());
        let call = Call::post(format!("{}/events/{name}{query}", at(&event.run)))
            .bytes("application/json", event.payload.as_bytes().to_vec());
        let call = match &event.dedup_id {
            Some(id) => call.header(DEDUP_ID, id),
            None => call,
        };
        by(call, event.by.as_deref())
    }

    async fn verb(
        &self,
        run: &RunId,
        path: String,
        body: &(impl serde::Serialize + Sync),
        origin: &RequestOrigin,
    ) -> Result<Done, ControlError> {
        let call = Call::post(format!("{}/{path}", at(run)));
        let call = by(call.json(body).map_err(of_call)?, origin.by.as_deref());
        let answer: ControlAnswer = self.send(call).await?.json().map_err(of_call)?;
        Ok(views::done(answer))
    }

    async fn control(
        &self,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let verb = control.verb().to_string();
        if let Control::Cancel { rollback } = control {
            let reason = origin.reason.clone();
            let request = CancelRequest { reason, rollback };
            return self.verb(run, verb, &request, &origin).await;
        }
        if control == Control::Delete {
            return self.delete(run, origin).await;
        }
        let request = ControlRequest {
            reason: origin.reason.clone(),
        };
        self.verb(run, verb, &request, &origin).await
    }

    async fn delete(&self, run: &RunId, origin: RequestOrigin) -> Result<Done, ControlError> {
        let query = origin
            .reason
            .map(|reason| format!("?reason={}", segment(&reason)));
        let path = format!("{}{}", at(run), query.unwrap_or_default());
        let call = by(Call::new(Method::DELETE, path), origin.by.as_deref());
        let answer: ControlAnswer = self.send(call).await?.json().map_err(of_call)?;
        Ok(views::done(answer))
    }
}

impl Port for HttpRequests {
    fn start(&self, start: Start) -> Asking<'_, Begun, StartError> {
        Box::pin(async move {
            let mut request = StartRequest::new(start.workflow.as_str(), start.input);
            request.id = start.id.map(|id| id.to_string());
            request.idempotency_key = start.idempotency_key;
            request.tags = start.tags;
            request.deadline = start.deadline.map(millis);
            request.execution_retries = start.execution_retries;
            request.strict = start.strict;
            let mut call = Call::post("workflows").json(&request).map_err(of_call)?;
            if let Some(parent) = start.trace {
                call = call.header(TRACE, &parent.to_string());
            }
            let answer = self.send(by(call, start.by.as_deref())).await?;
            let answer: StartAnswer = answer.json().map_err(of_call)?;
            Ok(Begun {
                run: answer.id,
                created: answer.created,
                stream: None,
            })
        })
    }

    fn send(&self, event: SendEvent) -> Asking<'_, Sent, SendError> {
        Box::pin(async move {
            let run = event.run.clone();
            let answer = match self.send(Self::event(event, "")).await {
                Err(error) => return Err(self.rejected(&run, error).await),
                Ok(answer) => answer,
            };
            let sent: EventAnswer = answer.json().map_err(of_call)?;
            let number = RecordNumber(sent.number);
            Ok(match sent.outcome {
                EventOutcome::Accepted => Sent::Accepted(number),
                EventOutcome::Duplicate => Sent::Duplicate(number),
            })
        })
    }

    fn ask(&self, mut event: SendEvent) -> Asking<'_, Option<Payload>, SendError> {
        Box::pin(async move {
            // Under an id of its own it can be asked for again, and is heard by the run once.
            let (a, b) = (self.runtime.random(), self.runtime.random());
            event
                .dedup_id
                .get_or_insert_with(|| format!("ask:{a:016x}{b:016x}"));
            let query = format!("?reply={}", self.wait_text());
            loop {
                match self.held(Self::event(event.clone(), &query)).await {
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

    fn answer(&self, answer: Answer) -> Asking<'_, (), AnswerError> {
        Box::pin(async move {
            let path = format!(
                "{}/rpc/{}",
                at(&answer.run),
                segment(&answer.rpc.to_string())
            );
            let call =
                Call::post(path).bytes("application/json", answer.answer.as_bytes().to_vec());
            let call = match &answer.dedup_id {
                Some(id) => call.header(DEDUP_ID, id),
                None => call,
            };
            let accepted = self.send(by(call, answer.by.as_deref())).await?;
            accepted.json::<AnswerAccepted>().map_err(of_call)?;
            Ok(())
        })
    }

    fn row<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunRow, ReadError> {
        Box::pin(async move { Ok(views::row(&self.view(run).await?)) })
    }

    fn inspect<'a>(&'a self, run: &'a RunId) -> Asking<'a, RunInfo, ReadError> {
        Box::pin(async move {
            let row = self.row(run).await?;
            let overview = Overview::of(&self.journal(run).await?);
            Ok(RunInfo { row, overview })
        })
    }

    fn why<'a>(&'a self, run: &'a RunId) -> Asking<'a, Why, ReadError> {
        Box::pin(async move {
            let why: WhyView = self.get(format!("{}/why", at(run))).await?;
            Ok(Why {
                status: why.status,
                reasons: why.reasons,
                deadline: why.deadline,
            })
        })
    }

    fn journal<'a>(&'a self, run: &'a RunId) -> Asking<'a, Vec<everstep_model::Entry>, ReadError> {
        Box::pin(async move {
            let answer = self.send(Call::get(format!("{}/journal", at(run)))).await?;
            Ok(views::journal(run, &answer.body)?)
        })
    }

    fn records<'a>(&'a self, run: &'a RunId, from: RecordNumber) -> Asking<'a, Records, ReadError> {
        Box::pin(async move {
            self.view(run).await?;
            Ok(Records::new(ServerTail::new(
                self.clone(),
                run.clone(),
                from,
            )))
        })
    }

    fn ended<'a>(&'a self, run: &'a RunId, _: Option<StreamNumber>) -> Asking<'a, End, ReadError> {
        Box::pin(async move {
            let path = format!("{}?wait={}", at(run), self.wait_text());
            loop {
                let answer = self.held(Call::get(path.clone())).await?;
                let view: RunView = answer.json().map_err(of_call)?;
                if let Some(end) = views::end(view) {
                    return Ok(end);
                }
            }
        })
    }

    fn list(&self, query: ListQuery) -> Asking<'_, ListPage, ReadError> {
        Box::pin(async move {
            let page: RunPage = self
                .get(format!("workflows?{}", list_query(&query)))
                .await?;
            let next = page.cursor.map(|cursor| cursor.parse()).transpose();
            Ok(ListPage {
                rows: page.runs.into_iter().map(views::row_of_summary).collect(),
                next: next.map_err(|error| ServerError {
                    code: ErrorCode::InvalidOptions,
                    message: format!("{error}"),
                })?,
            })
        })
    }

    fn control<'a>(
        &'a self,
        run: &'a RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError> {
        Box::pin(self.control(run, control, origin))
    }

    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        at: &'a Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError> {
        Box::pin(async move {
            let step = segment(&at.to_string());
            let settle = |result| SettleRequest {
                result,
                reason: origin.reason.clone(),
            };
            let (verb, request) = match settlement {
                Settlement::Skip(result) => ("skip", settle(result)),
                Settlement::Edit(result) => ("edit", settle(result)),
                Settlement::Fail(message) => {
                    let request = ControlRequest {
                        reason: Some(message),
                    };
                    let path = format!("steps/{step}/fail");
                    return self.verb(run, path, &request, &origin).await;
                }
            };
            let path = format!("steps/{step}/{verb}");
            self.verb(run, path, &request, &origin).await
        })
    }

    fn revive<'a>(
        &'a self,
        run: &'a RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Asking<'a, Done, ControlError> {
        Box::pin(async move {
            let control = match revival {
                Revival::RestartFrom { at, edited } => {
                    let request = RestartRequest {
                        reason: origin.reason.clone(),
                        from: Some(at.to_string()),
                        result: edited,
                    };
                    return self
                        .verb(run, "restart".to_owned(), &request, &origin)
                        .await;
                }
                Revival::Restart => Control::Restart,
                Revival::Recover => Control::Recover,
                Revival::RetryRollback => Control::RetryRollback,
            };
            self.control(run, control, origin).await
        })
    }

    fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Asking<'_, Done, ControlError> {
        Box::pin(async move {
            let request = ForkRequest {
                id: fork.id.map(|id| id.to_string()),
                from: fork.at.map(|at| at.to_string()),
                result: fork.edited,
                reason: origin.reason.clone(),
            };
            self.verb(&fork.run, "fork".to_owned(), &request, &origin)
                .await
        })
    }

    fn bulk(
        &self,
        which: Which,
        control: Control,
        origin: RequestOrigin,
        mut progress: Listener,
    ) -> Asking<'_, BulkReport, ControlError> {
        Box::pin(async move {
            let (ids, filter) = match which {
                Which::Named(runs) => {
                    let ids = runs.iter().map(ToString::to_string);
                    (Some(ids.collect()), None)
                }
                Which::Listed(query) => (None, Some(filter(&query))),
            };
            let rollback = matches!(control, Control::Cancel { rollback: true });
            let request = BulkRequest {
                verb: control.verb(),
                ids,
                filter,
                reason: origin.reason,
                rollback,
            };
            let call = Call::post("bulk").json(&request).map_err(of_call)?;
            let answer = self.send(by(call, origin.by.as_deref())).await?;
            let answer: BulkAnswer = answer.json().map_err(of_call)?;
            Ok(report(answer, &mut progress))
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.runtime.sleep(duration)
    }
}

fn by(call: Call, name: Option<&str>) -> Call {
    match name {
        Some(name) => call.header(ACTOR, &segment(name)),
        None => call,
    }
}

fn millis(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

fn filter(query: &ListQuery) -> Filter {
    let texts = |names: &mut dyn Iterator<Item = String>| names.collect();
    Filter {
        workflows: texts(&mut query.workflows.iter().map(ToString::to_string)),
        statuses: texts(&mut query.statuses.iter().map(ToString::to_string)),
        tag: query.tag.clone(),
        created_from: query.created_from.map(|time| time.to_string()),
        created_before: query.created_before.map(|time| time.to_string()),
    }
}

fn list_query(query: &ListQuery) -> String {
    let filter = filter(query);
    let mut parameters = vec![format!("limit={}", query.limit)];
    let mut add = |name: &str, value: &str| parameters.push(format!("{name}={}", segment(value)));
    filter.workflows.iter().for_each(|one| add("type", one));
    filter.statuses.iter().for_each(|one| add("status", one));
    filter.tag.iter().for_each(|tag| add("tag", tag));
    filter
        .created_from
        .iter()
        .for_each(|time| add("createdFrom", time));
    filter
        .created_before
        .iter()
        .for_each(|time| add("createdBefore", time));
    query
        .cursor
        .iter()
        .for_each(|cursor| add("cursor", &cursor.to_string()));
    parameters.join("&")
}

/// What was done with each run. The server tells it at the end, and so it is told here.
fn report(answer: BulkAnswer, progress: &mut Listener) -> BulkReport {
    let total = answer.runs.len();
    let mut refused = 0;
    let mut report = BulkReport::default();
    for (index, run) in answer.runs.into_iter().enumerate() {
        let result = match (run.done, run.problem) {
            (Some(done), _) => Ok(views::done(done)),
            (None, Some(problem)) => Err(of_problem(problem).into()),
            (None, None) => Err(ControlRejection::UnknownRun(UnknownRun(run.id.clone())).into()),
        };
        refused += usize::from(result.is_err());
        report.runs.push((run.id, result));
        progress(everstep_engine::BulkProgress {
            done: index + 1,
            total,
            refused,
        });
    }
    report
}
