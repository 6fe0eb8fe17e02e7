//! The routes of the worker protocol.

use everstep_protocol::access::Scope;
use everstep_protocol::worker::{
    Acknowledged, AppendAnswer, AppendRequest, ClaimAnswer, ClaimRequest, ReadAnswer, ReadRequest,
    RegisterAnswer, RegisterRequest, ReleaseRequest,
};

use super::request::WorkerRoutes;
use super::{append, claim, leave, read, register, release};
use crate::auth::Requirement;
use crate::route::Route;
use crate::route_doc::RouteDoc;

pub(crate) fn routes() -> Vec<Route<WorkerRoutes>> {
    const WORK: Requirement = Requirement::Scope(Scope::Work);
    let acknowledged = |doc: RouteDoc| doc.returns::<Acknowledged>(200, "Acknowledged.");
    vec![
        Route::post(
            "/v1/workers",
            WORK,
            register::register,
            RouteDoc::new("Register a worker and begin a session")
                .accepts::<RegisterRequest>()
                .returns::<RegisterAnswer>(200, "The session."),
        ),
        Route::delete(
            "/v1/workers/{session}",
            WORK,
            leave::leave,
            acknowledged(RouteDoc::new("End a session")),
        ),
        Route::post(
            "/v1/workers/{session}/claim",
            WORK,
            claim::claim,
            RouteDoc::new("Wait for runs to execute and for news of them")
                .accepts::<ClaimRequest>()
                .returns::<ClaimAnswer>(200, "The new items. Empty if the wait timed out."),
        ),
        Route::post(
            "/v1/workers/{session}/append",
            WORK,
            append::append,
            RouteDoc::new("Append records to the journals of runs")
                .accepts::<AppendRequest>()
                .returns::<AppendAnswer>(200, "The outcome of each append."),
        ),
        Route::post(
            "/v1/workers/{session}/read",
            WORK,
            read::read,
            RouteDoc::new("Read the journal of a run")
                .accepts::<ReadRequest>()
                .returns::<ReadAnswer>(200, "The records up to the end of the journal."),
        ),
        Route::post(
            "/v1/workers/{session}/heartbeat",
            WORK,
            release::heartbeat,
            acknowledged(RouteDoc::new("Keep a session alive")),
        ),
        Route::post(
            "/v1/workers/{session}/release",
            WORK,
            release::release,
            acknowledged(RouteDoc::new("Release runs").accepts::<ReleaseRequest>()),
        ),
    ]
}
