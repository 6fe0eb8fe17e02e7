//! Seeded simulation of whole clusters: the real engine with real workflow code on a simulated
//! store, bus, network and clock, with faults at every call.
//!
//! ```text
//!   World ── executor    one thread, virtual time; the seed chooses the next task; a group of tasks is a process
//!     │   ├─ machines    1 to 3, each with a real `everstep::Engine` on `NodeRuntime` (its clock may be wrong)
//!     │   ├─ SimStore    one per process, in front of one store: numbers each call and gets its `CallPlan` from `Faults`
//!     │   ├─ SimBus      hints that arrive, or are lost, repeated or delayed
//!     │   └─ nemesis     pauses, clock jumps, outages, restarts
//!     ├─ observed        the expected journals with their checks at each call, the history, the ledger
//!     ├─ workload        random programs and clients
//!     ├─ exhaustive      canonical workflows instead, with a crash at every call
//!     └─ check           the checks at the end, by the number of the invariant
//! ```
//!
//! **The course of one fault.** An executor appends the result of a step. The engine's committer
//! calls `SimStore`; the call gets number 271, and `Faults::plan_call(271)` decides, from the seed
//! and the number alone, that the node crashes after the call took effect. A task of the network
//! applies the batch to the store. `World::record_commit` compares it with the expected journals
//! (fence, sequence, inbox count, numbers). Then `World::crash` ends the group of the process: none
//! of its tasks is polled again, and all of them are dropped before any other task runs, including
//! the committer that waits for the answer. Some time later the machine starts the next process.
//! Its engine sweeps, finds the run with a ready mark and a dead owner, claims it under the next
//! epoch, and replays. If the step ran again, `Env::begin_attempt` would find its result in the
//! expected journal and report invariant 8. At the end the faults stop, all runs end, and
//! `check::check_all` reads the journals once more.
//!
//! The same seed gives the same simulation, byte by byte of its timeline. `docs/simulation.md`
//! describes what the simulation shows and what it does not.

#![allow(
    missing_docs,
    reason = "a test tool; items are documented where their names are not enough"
)]

pub mod campaign;
pub mod check;
pub mod cluster;
pub mod executor;
pub mod exhaustive;
pub mod minimise;
pub mod observed;
pub mod plan;
pub mod planted;
pub mod planted_store;
pub mod program;
pub mod report;
pub mod simulation;
pub mod stores;
pub mod trace;
pub mod workload;

pub use campaign::{Campaign, Summary};
pub use everstep_model::planted::Bug;
pub use minimise::minimise;
pub use observed::Violation;
pub use plan::{FaultKind, Limits, Plan};
pub use simulation::{Report, simulate};
