//! The worker protocol: processes elsewhere execute runs of this engine. One file per verb.
//!
//! To the engine a session of a worker is a worker like any other. It executes a run by a bridge, a task that has the run's
//! activation: what the engine tells it becomes news in the session's list, what the session appends goes to the engine.
//!
//! ```text
//!   engine ── Activation ── bridge.rs ─┬─ orders ◀── append.rs, read.rs, release.rs
//!                                      └─ news ───▶ pool.rs: the lists of sessions ──▶ claim.rs
//! ```
//!
//! The node of this server holds the right to every run its sessions execute. A session that gives no sign of life loses its
//! runs: their bridges give them back, and whoever executes them next has a higher epoch.

mod append;
mod bridge;
mod claim;
mod convert;
mod leave;
mod offered;
mod own_session;
mod permitted;
mod pool;
mod queue;
mod read;
mod register;
mod release;
mod request;
mod seat;
mod session;
mod token;

use everstep_protocol::access::Scope;
use everstep_protocol::worker::{
    Acknowledged, AppendAnswer, AppendRequest, ClaimAnswer, ClaimRequest, ReadAnswer, ReadRequest,
    RegisterAnswer, RegisterRequest, ReleaseRequest,
};

pub(crate) use pool::Pool;

use crate::auth::Needs;
use crate::openapi::About;
use crate::routes::Route;

pub(crate) fn routes() -> Vec<Route> {
    let work = Needs::Scope(Scope::Work);
    let heard = |about: About| about.gives::<Acknowledged>(200, "It is so.");
    vec![
        Route::post("/v1/workers", work, register::register).about(
            About::new("Begins a session of a worker")
                .takes::<RegisterRequest>()
                .gives::<RegisterAnswer>(200, "The session."),
        ),
        Route::delete("/v1/workers/{session}", work, leave::leave)
            .about(heard(About::new("Ends a session of a worker"))),
        Route::post("/v1/workers/{session}/claim", work, claim::claim).about(
            About::new("Waits for runs to execute, and for news of them")
                .takes::<ClaimRequest>()
                .gives::<ClaimAnswer>(200, "What is new; nothing if nothing came for a while."),
        ),
        Route::post("/v1/workers/{session}/append", work, append::append).about(
            About::new("Appends what happened in runs")
                .takes::<AppendRequest>()
                .gives::<AppendAnswer>(200, "What became of each append."),
        ),
        Route::post("/v1/workers/{session}/read", work, read::read).about(
            About::new("Reads the journal of a run")
                .takes::<ReadRequest>()
                .gives::<ReadAnswer>(200, "Its records to its end."),
        ),
        Route::post("/v1/workers/{session}/heartbeat", work, release::heartbeat)
            .about(heard(About::new("Keeps a session alive"))),
        Route::post("/v1/workers/{session}/release", work, release::release).about(heard(
            About::new("Lets go of runs").takes::<ReleaseRequest>(),
        )),
    ]
}
