//! The routes of the workflow API.

use everstep_engine::Control;
use everstep_protocol::access::Scope;
use everstep_protocol::workflow::{
    AnswerAccepted, BulkReport, BulkRequest, CancelRequest, ControlAnswer, ControlRequest,
    EditRequest, EventAnswer, ForkRequest, RestartRequest, RunPage, RunView, SkipRequest,
    StartAnswer, StartBatch, StartBatchAnswer, StartRequest, TypePage, WhyView,
};
use serde_json::{Map, Value};

use super::call::WorkflowRoutes;
use super::control::{self, plain};
use super::{audit, bulk, import, list, messages, shape, show, start};
use crate::auth::{Requirement, RunAction};
use crate::route::Route;

const START: Requirement = Requirement::Scopes(&[Scope::Start]);
const OPERATE_SOME: Requirement = Requirement::Scopes(&[Scope::Operate]);
const OPERATE: Requirement = Requirement::Run(RunAction::Operate);
const FORK: Requirement = Requirement::Run(RunAction::Fork);
const READ_ALL: Requirement = Requirement::Scopes(&[Scope::Read]);
const READ: Requirement = Requirement::Run(RunAction::Read);
const READ_IN_FULL: Requirement = Requirement::Run(RunAction::ReadInFull);
const RECORDS: Requirement = Requirement::Run(RunAction::ReadRecords);
const SEND: Requirement = Requirement::Run(RunAction::Send);
const ANSWER: Requirement = Requirement::Run(RunAction::Answer);
const ADMIN: Requirement = Requirement::Scopes(&[Scope::Admin]);
/// An import may create a run of any workflow, with any author.
const ADMIN_OF_ALL: Requirement = Requirement::Unlimited(&[Scope::Admin]);

pub(crate) fn routes() -> Vec<Route<WorkflowRoutes>> {
    [runs(), messages(), verbs(), audits()]
        .into_iter()
        .flatten()
        .collect()
}

fn runs() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::post("/workflows", START, start::start)
            .summary("Start a run, or return the run with the same id or idempotency key")
            .header(
                "traceparent",
                "The trace that the run's spans belong to (W3C Trace Context).",
            )
            .accepts::<StartRequest>()
            .returns::<StartAnswer>(201, "The run was created.")
            .returns::<StartAnswer>(200, "The run existed already."),
        Route::post("/batch", START, start::start_batch)
            .summary("Start many runs. A start that is refused does not affect the others")
            .accepts::<StartBatch>()
            .returns::<StartBatchAnswer>(
                200,
                "The outcome for each run, in the order of the request.",
            ),
        Route::get("/workflows", READ_ALL, list::runs)
            .summary("List runs, newest first")
            .parameters(list::PARAMETERS)
            .returns::<RunPage>(200, "A page of runs."),
        Route::get("/workflows/{id}", READ, show::show)
            .summary("Read a run, and optionally wait until it has ended. A run token shows the fields of its view")
            .parameters(show::PARAMETERS)
            .returns::<RunView>(200, "The run."),
        Route::delete("/workflows/{id}", OPERATE, control::delete)
            .summary("Delete a run with all its generations. A run in progress is terminated first")
            .parameters(control::DELETE_PARAMETERS)
            .returns::<ControlAnswer>(200, "The outcome."),
        Route::put("/workflows/{id}/journal", ADMIN_OF_ALL, import::import)
            .summary("Import a run with an exported journal. A run that has not ended continues")
            .accepts_any(bulk::JSON_LINES)
            .imports()
            .returns::<ControlAnswer>(201, "The run was created."),
        Route::post("/bulk", OPERATE_SOME, bulk::bulk)
            .summary("Apply one verb to many runs")
            .accepts::<BulkRequest>()
            .returns::<BulkReport>(200, "The outcome for each run.")
            .or_any(bulk::JSON_LINES),
    ]
}

fn messages() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::post("/workflows/{id}/events/{name}", SEND, messages::send)
            .summary("Send an event to a run. The body is the payload")
            .parameters(messages::SEND_PARAMETERS)
            .header(
                "Idempotency-Key",
                "The sender's id of the event. The run receives each id once.",
            )
            .accepts_any("application/json")
            .returns::<EventAnswer>(202, "The event is in the run's journal.")
            .returns::<EventAnswer>(
                200,
                "The event is in the run's journal, and the run has replied.",
            ),
        Route::post("/workflows/{id}/rpc/{rpc}", ANSWER, messages::answer)
            .summary("Answer an rpc of a run. The body is the answer; the first valid answer wins")
            .header(
                "Idempotency-Key",
                "The sender's id of the answer. Repeating the same answer succeeds.",
            )
            .accepts_any("application/json")
            .returns::<AnswerAccepted>(200, "The answer is in the run's journal."),
    ]
}

/// Declares the control verbs, one per row: `path, requirement, handler, request, summary`. Their
/// responses are the same.
macro_rules! verbs {
    ($($path:literal, $requires:expr, $handler:expr, $request:ty, $summary:literal;)*) => {
        vec![$(Route::post(concat!("/workflows/{id}/", $path), $requires, $handler)
            .summary($summary)
            .accepts::<$request>()
            .returns::<ControlAnswer>(200, "The outcome.")),*]
    };
}

fn verbs() -> Vec<Route<WorkflowRoutes>> {
    verbs! {
        "pause", OPERATE, plain(Control::Pause), ControlRequest, "Pause a run when its steps in flight have ended";
        "resume", OPERATE, plain(Control::Resume), ControlRequest, "Resume a paused run";
        "cancel", OPERATE, control::cancel, CancelRequest, "Cancel a run, by default with rollback";
        "terminate", OPERATE, plain(Control::Terminate), ControlRequest, "Terminate a run immediately, without rollback";
        "restart", OPERATE, control::restart, RestartRequest, "Restart a run, from its beginning or from one of its operations";
        "fork", FORK, control::fork, ForkRequest, "Start another run from the current or an earlier point of this run";
        "recover", OPERATE, plain(Control::Recover), ControlRequest, "Continue a failed run where it failed";
        "retry-rollback", OPERATE, plain(Control::RetryRollback), ControlRequest, "Retry a failed rollback";
        "fail", OPERATE, plain(Control::Fail), ControlRequest, "Make a run fail";
        "steps/{step}/skip", OPERATE, control::skip_step, SkipRequest, "Complete a step without running it";
        "steps/{step}/edit", OPERATE, control::edit_step, EditRequest, "Set the result of a step that has none";
        "steps/{step}/fail", OPERATE, control::fail_operation, ControlRequest, "Make an operation that has no result fail";
    }
}

fn audits() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::get("/types", READ_ALL, list::workflows)
            .summary("List the workflows that can be started, with their versions")
            .returns::<TypePage>(200, "All workflows."),
        Route::get("/workflows/{id}/why", READ, audit::why)
            .summary(
                "Explain why a run makes no progress. A run token shows the reasons of its view",
            )
            .returns::<WhyView>(200, "What the run waits for."),
        Route::get("/workflows/{id}/timeline", READ_IN_FULL, audit::timeline)
            .summary("Read a run's journal as an audit trail: actor, action, time and duration")
            .parameters(audit::TIMELINE_PARAMETERS)
            .returns::<Vec<Map<String, Value>>>(200, "One entry per record.")
            .or_any(bulk::JSON_LINES),
        Route::get("/workflows/{id}/shape", READ_IN_FULL, shape::shape)
            .summary("Read a run's structure as a Mermaid flowchart or as JSON")
            .parameters(shape::PARAMETERS)
            .returns::<Map<String, Value>>(200, "The structure.")
            .or_any(shape::MERMAID),
        Route::get("/workflows/{id}/records", RECORDS, audit::records)
            .summary("Read a run's records without the results of sensitive steps")
            .parameters(audit::JOURNAL_PARAMETERS)
            .returns_any(200, bulk::JSON_LINES, "One record per line."),
        Route::get("/workflows/{id}/journal", ADMIN, audit::journal)
            .summary("Read a run's complete journal, for replay tests")
            .parameters(audit::JOURNAL_PARAMETERS)
            .returns_any(200, bulk::JSON_LINES, "One record per line."),
    ]
}
