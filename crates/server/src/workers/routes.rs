//! The routes of the worker protocol.

use everstep_protocol::access::Scope;
use everstep_protocol::worker::{
    Acknowledged, AppendAnswer, AppendRequest, ClaimAnswer, ClaimRequest, ReadAnswer, ReadRequest,
    RegisterAnswer, RegisterRequest, ReleaseRequest,
};

use super::append::append;
use super::claim::claim;
use super::read::read;
use super::register::register;
use super::release::{heartbeat, leave, release};
use super::request::WorkerRoutes;
use crate::auth::Requirement;
use crate::route::Route;

pub(crate) fn routes() -> Vec<Route<WorkerRoutes>> {
    const WORK: Requirement = Requirement::Scopes(&[Scope::Work]);
    vec![
        Route::post("/v1/workers", WORK, register)
            .summary("Register a worker and begin a session")
            .accepts::<RegisterRequest>()
            .returns::<RegisterAnswer>(200, "The session."),
        Route::delete("/v1/workers/{session}", WORK, leave)
            .summary("End a session")
            .returns::<Acknowledged>(200, "Acknowledged."),
        Route::post("/v1/workers/{session}/claim", WORK, claim)
            .summary("Wait for runs to execute and for notifications about them")
            .accepts::<ClaimRequest>()
            .returns::<ClaimAnswer>(200, "The new items. Empty if the wait timed out."),
        Route::post("/v1/workers/{session}/append", WORK, append)
            .summary("Append records to the journals of runs")
            .accepts::<AppendRequest>()
            .returns::<AppendAnswer>(200, "The outcome of each append."),
        Route::post("/v1/workers/{session}/read", WORK, read)
            .summary("Read the journal of a run")
            .accepts::<ReadRequest>()
            .returns::<ReadAnswer>(200, "The records up to the end of the journal."),
        Route::post("/v1/workers/{session}/heartbeat", WORK, heartbeat)
            .summary("Keep a session alive")
            .returns::<Acknowledged>(200, "Acknowledged."),
        Route::post("/v1/workers/{session}/release", WORK, release)
            .summary("Release runs")
            .accepts::<ReleaseRequest>()
            .returns::<Acknowledged>(200, "Acknowledged."),
    ]
}
