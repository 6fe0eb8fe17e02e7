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
mod pool;
mod read;
mod refusal;
mod register;
mod release;
mod request;
mod seat;
mod session;
mod token;

pub(crate) use append::append;
pub(crate) use claim::claim;
pub(crate) use leave::leave;
pub(crate) use pool::Pool;
pub(crate) use read::read;
pub(crate) use register::register;
pub(crate) use release::{heartbeat, release};
