//! The routes of the workflow API.

use everstep_protocol::access::Scope;
use everstep_protocol::workflow::{
    AnswerAccepted, BulkReport, BulkRequest, CancelRequest, ControlAnswer, ControlRequest,
    EventAnswer, ForkRequest, RestartRequest, RunPage, RunView, SettleRequest, StartAnswer,
    StartRequest, TypePage, WhyView,
};
use schemars::JsonSchema;

use super::call::WorkflowRoutes;
use super::{audit, bulk, control, event, list, rpc, show, start, step, types};
use crate::auth::{Requirement, RunAction};
use crate::route::Route;
use crate::route_doc::RouteDoc;

const START: Requirement = Requirement::Scope(Scope::Start);
const OPERATE: Requirement = Requirement::Scope(Scope::Operate);
/// The creator of a fork can read the content of its source.
const FORK: Requirement = Requirement::Scopes(&[Scope::Operate, Scope::Read]);
const READ_ALL: Requirement = Requirement::Scope(Scope::Read);
const READ: Requirement = Requirement::Run(RunAction::Read);
const ADMIN: Requirement = Requirement::Scope(Scope::Admin);

pub(crate) fn routes() -> Vec<Route<WorkflowRoutes>> {
    let mut routes = runs();
    routes.extend(messages());
    routes.extend(verbs());
    routes.extend(step_verbs());
    routes.extend(audits());
    routes
}

fn runs() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::post(
            "/workflows",
            START,
            start::start,
            RouteDoc::new("Start a run, or return the run with the same id or idempotency key")
                .header(
                    "traceparent",
                    "The trace that the run's spans belong to (W3C Trace Context).",
                )
                .accepts::<StartRequest>()
                .returns::<StartAnswer>(201, "The run was created.")
                .returns::<StartAnswer>(200, "The run existed already."),
        ),
        Route::get(
            "/workflows",
            READ_ALL,
            list::list,
            RouteDoc::new("List runs, newest first")
                .parameters(list::PARAMETERS)
                .returns::<RunPage>(200, "A page of runs."),
        ),
        Route::get(
            "/workflows/{id}",
            READ,
            show::show,
            RouteDoc::new("Read a run in full, and optionally wait until it has ended")
                .parameters(show::PARAMETERS)
                .returns::<RunView>(200, "The run."),
        ),
        Route::delete(
            "/workflows/{id}",
            OPERATE,
            control::delete,
            RouteDoc::new(
                "Delete a run with all its generations. A run in progress is terminated first",
            )
            .parameters(control::DELETE_PARAMETERS)
            .returns::<ControlAnswer>(200, "The outcome."),
        ),
        Route::post(
            "/bulk",
            OPERATE,
            bulk::bulk,
            RouteDoc::new("Apply one verb to many runs")
                .accepts::<BulkRequest>()
                .returns::<BulkReport>(200, "The outcome for each run.")
                .or_as(200, bulk::JSON_LINES),
        ),
    ]
}

fn messages() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::post(
            "/workflows/{id}/events/{name}",
            Requirement::Run(RunAction::Send),
            event::send,
            RouteDoc::new("Send an event to a run. The body is the payload")
                .parameters(event::PARAMETERS)
                .header(
                    "Idempotency-Key",
                    "The sender's id of the event. The run receives each id once.",
                )
                .accepts_any()
                .returns::<EventAnswer>(202, "The event is in the run's journal.")
                .returns::<EventAnswer>(
                    200,
                    "The event is in the run's journal, and the run has replied.",
                ),
        ),
        Route::post(
            "/workflows/{id}/rpc/{rpc}",
            Requirement::Run(RunAction::Answer),
            rpc::answer,
            RouteDoc::new(
                "Answer an rpc of a run. The body is the answer; the first valid answer wins",
            )
            .header(
                "Idempotency-Key",
                "The sender's id of the answer. Repeating the same answer succeeds.",
            )
            .accepts_any()
            .returns::<AnswerAccepted>(200, "The answer is in the run's journal."),
        ),
    ]
}

/// The documentation of a verb with a request body of type `T`.
fn verb<T: JsonSchema>(summary: &'static str) -> RouteDoc {
    RouteDoc::new(summary)
        .accepts::<T>()
        .returns::<ControlAnswer>(200, "The outcome.")
}

fn plain(summary: &'static str) -> RouteDoc {
    verb::<ControlRequest>(summary)
}

fn verbs() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::post(
            "/workflows/{id}/pause",
            OPERATE,
            control::pause,
            plain("Pause a run when its steps in flight have ended"),
        ),
        Route::post(
            "/workflows/{id}/resume",
            OPERATE,
            control::resume,
            plain("Resume a paused run"),
        ),
        Route::post(
            "/workflows/{id}/cancel",
            OPERATE,
            control::cancel,
            verb::<CancelRequest>("Cancel a run, by default with rollback"),
        ),
        Route::post(
            "/workflows/{id}/terminate",
            OPERATE,
            control::terminate,
            plain("Terminate a run immediately, without rollback"),
        ),
        Route::post(
            "/workflows/{id}/restart",
            OPERATE,
            control::restart,
            verb::<RestartRequest>(
                "Restart a run, from its beginning or from one of its operations",
            ),
        ),
        Route::post(
            "/workflows/{id}/fork",
            FORK,
            control::fork,
            verb::<ForkRequest>(
                "Start another run from the current or an earlier point of this run",
            ),
        ),
        Route::post(
            "/workflows/{id}/recover",
            OPERATE,
            control::recover,
            plain("Continue a failed run where it failed"),
        ),
        Route::post(
            "/workflows/{id}/retry-rollback",
            OPERATE,
            control::retry_rollback,
            plain("Retry a failed rollback"),
        ),
        Route::post(
            "/workflows/{id}/fail",
            OPERATE,
            control::fail,
            plain("Make a run fail"),
        ),
    ]
}

fn step_verbs() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::post(
            "/workflows/{id}/steps/{step}/skip",
            OPERATE,
            step::skip,
            verb::<SettleRequest>("Complete a step without running it"),
        ),
        Route::post(
            "/workflows/{id}/steps/{step}/edit",
            OPERATE,
            step::edit,
            verb::<SettleRequest>("Set the result of a step that has none"),
        ),
        Route::post(
            "/workflows/{id}/steps/{step}/fail",
            OPERATE,
            step::fail,
            plain("Make an operation that has no result fail"),
        ),
    ]
}

fn audits() -> Vec<Route<WorkflowRoutes>> {
    vec![
        Route::get(
            "/types",
            READ_ALL,
            types::list,
            RouteDoc::new("List the workflows that can be started, with their versions")
                .returns::<TypePage>(200, "All workflows."),
        ),
        Route::get(
            "/workflows/{id}/why",
            READ,
            audit::why,
            RouteDoc::new("Explain why a run makes no progress")
                .returns::<WhyView>(200, "What the run waits for."),
        ),
        Route::get(
            "/workflows/{id}/timeline",
            READ,
            audit::timeline,
            RouteDoc::new(
                "Read a run's journal as an audit trail: actor, action, time and duration",
            )
            .parameters(audit::TIMELINE_PARAMETERS)
            .returns::<Vec<serde_json::Value>>(200, "One entry per record.")
            .or_as(200, bulk::JSON_LINES),
        ),
        Route::get(
            "/workflows/{id}/shape",
            READ,
            audit::shape,
            RouteDoc::new("Read a run's structure as a Mermaid flowchart or as JSON")
                .returns::<serde_json::Value>(200, "The structure.")
                .or_as(200, audit::MERMAID),
        ),
        Route::get(
            "/workflows/{id}/journal",
            ADMIN,
            audit::journal,
            RouteDoc::new("Read a run's complete journal, for replay tests")
                .parameters(audit::JOURNAL_PARAMETERS)
                .returns_as(200, bulk::JSON_LINES, "One record per line."),
        ),
    ]
}
