//! The worker protocol: other processes execute runs of this engine. One file per request.
//!
//! To the engine, a session is a worker like any other. A bridge, a task that owns the run's
//! activation, connects one run to the session that executes it: messages of the engine become
//! notifications in the session's list, and appends of the session go to the engine.
//!
//! ```text
//!   engine ── Activation ── bridge.rs ─┬─ commands ◀── append.rs, read.rs, release.rs
//!                                      └─ news ─────▶ pool.rs: the lists of sessions ──▶ claim.rs
//! ```
//!
//! This node owns every run that its sessions execute. A session that sends no heartbeat loses its
//! runs: their bridges release them, and the next executor has a higher epoch.

mod append;
mod bridge;
mod claim;
mod convert;
mod permitted;
mod pool;
mod queue;
mod reach;
mod read;
mod register;
mod release;
mod request;
mod routes;
mod seat;
mod session;
mod state;
mod token;

pub(crate) use pool::Pool;
pub(crate) use request::WorkerRoutes;
pub(crate) use routes::routes;
