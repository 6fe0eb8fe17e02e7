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

pub(crate) use pool::Pool;

use crate::auth::Needs;
use crate::openapi::About;
use crate::routes::Route;

pub(crate) fn routes() -> Vec<Route> {
    // What is in the bodies is said in PROTOCOL.md, with what it means.
    let about = |summary| {
        About::new(summary)
            .takes_any()
            .gives_as(200, "application/json", "As PROTOCOL.md says.")
    };
    let work = Needs::Scope(Scope::Work);
    vec![
        Route::post("/v1/workers", work, register::register)
            .about(about("Begins a session of a worker")),
        Route::delete("/v1/workers/{session}", work, leave::leave).about(
            About::new("Ends a session of a worker").gives_as(
                200,
                "application/json",
                "It has ended.",
            ),
        ),
        Route::post("/v1/workers/{session}/claim", work, claim::claim)
            .about(about("Waits for runs to execute, and for news of them")),
        Route::post("/v1/workers/{session}/append", work, append::append)
            .about(about("Appends what happened in runs")),
        Route::post("/v1/workers/{session}/read", work, read::read)
            .about(about("Reads the journal of a run")),
        Route::post("/v1/workers/{session}/heartbeat", work, release::heartbeat)
            .about(about("Keeps a session alive")),
        Route::post("/v1/workers/{session}/release", work, release::release)
            .about(about("Lets go of runs")),
    ]
}
