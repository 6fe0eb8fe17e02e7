//! The workflow API: one file per resource or verb. A handler reads a request, calls one verb of the engine, and writes
//! the answer; what goes wrong has its status in `failure.rs`.

mod audit;
mod bulk;
mod call;
mod control;
mod event;
mod kinds;
mod list;
pub(crate) mod parameters;
mod rpc;
mod show;
mod start;
mod step;

use everstep_protocol::access::Scope;
use everstep_protocol::workflow::{
    AnswerAccepted, BulkReport, BulkRequest, CancelRequest, ControlAnswer, ControlRequest,
    EventAnswer, ForkRequest, RestartRequest, RunPage, RunView, SettleRequest, StartAnswer,
    StartRequest, TypePage, WhyView,
};

use crate::auth::{Needs, RunAct};
use crate::openapi::About;
use crate::routes::Route;

const START: Needs = Needs::Scope(Scope::Start);
const OPERATE: Needs = Needs::Scope(Scope::Operate);
const LOOK: Needs = Needs::Run(RunAct::Look);

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::post("/workflows", START, start::start).about(
            About::new("Starts a run, or gives the one of that id or key")
                .header(
                    "traceparent",
                    "The trace that the run's spans are part of, as Trace Context says.",
                )
                .takes::<StartRequest>()
                .gives::<StartAnswer>(201, "The run was created.")
                .gives::<StartAnswer>(200, "The run was there already."),
        ),
        Route::get("/workflows", Needs::Scope(Scope::Read), list::list).about(
            About::new("Lists runs, newest first")
                .parameters(list::PARAMETERS)
                .gives::<RunPage>(200, "A page of the list."),
        ),
        Route::get("/workflows/{id}", LOOK, show::show).about(
            About::new("A run in full, at once or when it is over")
                .parameters(show::PARAMETERS)
                .gives::<RunView>(200, "The run."),
        ),
        Route::delete("/workflows/{id}", OPERATE, control::delete).about(
            About::new(
                "Deletes a run with all its generations; one that is not over is terminated first",
            )
            .parameters(control::DELETE_PARAMETERS)
            .gives::<ControlAnswer>(200, "What was done."),
        ),
    ];
    routes.extend(messages());
    routes.extend(verbs());
    routes.extend(looks());
    routes
}

fn messages() -> Vec<Route> {
    vec![
        Route::post(
            "/workflows/{id}/events/{name}",
            Needs::Run(RunAct::Send),
            event::send,
        )
        .about(
            About::new("Sends an event to a run; the body is its payload")
                .parameters(event::PARAMETERS)
                .header(
                    "Idempotency-Key",
                    "The sender's id for the event; the run sees each id once.",
                )
                .takes_any()
                .gives::<EventAnswer>(202, "The event is in the run's journal.")
                .gives::<EventAnswer>(200, "The same, and the run has replied."),
        ),
        Route::post(
            "/workflows/{id}/rpc/{rpc}",
            Needs::Run(RunAct::Answer),
            rpc::answer,
        )
        .about(
            About::new(
                "Answers a question of a run; the body is the answer, and the first valid one wins",
            )
            .header(
                "Idempotency-Key",
                "The sender's id for the answer; sent again under it, it is not refused.",
            )
            .takes_any()
            .gives::<AnswerAccepted>(200, "The answer is in the run's journal."),
        ),
    ]
}

fn verbs() -> Vec<Route> {
    fn plain(summary: &'static str) -> About {
        verb::<ControlRequest>(summary)
    }
    fn verb<T: schemars::JsonSchema>(summary: &'static str) -> About {
        About::new(summary)
            .takes::<T>()
            .gives::<ControlAnswer>(200, "What was done.")
    }
    vec![
        Route::post("/workflows/{id}/pause", OPERATE, control::pause)
            .about(plain("Pauses a run once its steps in flight are over")),
        Route::post("/workflows/{id}/resume", OPERATE, control::resume)
            .about(plain("Lets a paused run go on")),
        Route::post("/workflows/{id}/cancel", OPERATE, control::cancel)
            .about(verb::<CancelRequest>("Ends a run in good order")),
        Route::post("/workflows/{id}/terminate", OPERATE, control::terminate)
            .about(plain("Ends a run at once")),
        Route::post("/workflows/{id}/restart", OPERATE, control::restart).about(verb::<
            RestartRequest,
        >(
            "Begins a run again, from its start or from one of its operations",
        )),
        Route::post("/workflows/{id}/fork", OPERATE, control::fork).about(verb::<ForkRequest>(
            "Begins another run where this one is, or was",
        )),
        Route::post("/workflows/{id}/recover", OPERATE, control::recover)
            .about(plain("Lets a run that ended badly go on where it failed")),
        Route::post(
            "/workflows/{id}/retry-rollback",
            OPERATE,
            control::retry_rollback,
        )
        .about(plain("Tries a failed rollback again")),
        Route::post("/workflows/{id}/fail", OPERATE, control::fail)
            .about(plain("Makes a run fail")),
        Route::post("/workflows/{id}/steps/{step}/skip", OPERATE, step::skip).about(verb::<
            SettleRequest,
        >(
            "Satisfies a step without running it",
        )),
        Route::post("/workflows/{id}/steps/{step}/edit", OPERATE, step::edit).about(verb::<
            SettleRequest,
        >(
            "Gives a step that has no result one",
        )),
        Route::post("/workflows/{id}/steps/{step}/fail", OPERATE, step::fail)
            .about(plain("Makes an operation that has no result fail")),
        Route::post("/bulk", OPERATE, bulk::bulk).about(
            About::new("Does one thing with many runs")
                .takes::<BulkRequest>()
                .gives::<BulkReport>(200, "What was done with each.")
                .or_as(200, bulk::LINES),
        ),
    ]
}

fn looks() -> Vec<Route> {
    vec![
        Route::get("/types", Needs::Scope(Scope::Read), kinds::list).about(
            About::new("Lists the workflows that can be started, with their versions")
                .gives::<TypePage>(200, "Every workflow."),
        ),
        Route::get("/workflows/{id}/why", LOOK, audit::why).about(
            About::new("Why a run is not moving").gives::<WhyView>(200, "What it waits for."),
        ),
        Route::get("/workflows/{id}/timeline", LOOK, audit::timeline).about(
            About::new("A run's journal as an audit trail: who, what, when, how long")
                .parameters(audit::TIMELINE_PARAMETERS)
                .gives::<Vec<serde_json::Value>>(200, "One line per record.")
                .or_as(200, bulk::LINES),
        ),
        Route::get("/workflows/{id}/shape", LOOK, audit::shape).about(
            About::new("A run's structure as a Mermaid flowchart, or as JSON")
                .gives::<serde_json::Value>(200, "The structure.")
                .or_as(200, audit::MERMAID),
        ),
        Route::get(
            "/workflows/{id}/journal",
            Needs::Scope(Scope::Admin),
            audit::journal,
        )
        .about(
            About::new("A run's journal as it is kept, nothing withheld, for tests that replay it")
                .parameters(audit::JOURNAL_PARAMETERS)
                .gives_as(200, bulk::LINES, "One record per line."),
        ),
    ]
}
