//! Seeded simulation of whole clusters: the real engine, with its real workflow code, on a virtual world in which everything
//! that can go wrong does.
//!
//! ```text
//!   World ── executor   one thread, virtual time, the seed chooses which task runs next; a group of tasks is a process
//!     │   ├─ machines   1 to 3, each with a real `everstep::Engine` on `NodeRuntime` (its clock may be wrong)
//!     │   ├─ SimStore   one per process, in front of one shared `MemoryStore` (or what `stores` gives): numbers each call and asks `Faults` for its `Fate`
//!     │   ├─ SimBus     hints that arrive, or not, or twice, or late
//!     │   └─ nemesis    pauses, clock jumps, outages, restarts
//!     ├─ workload       random programs, clients, and the `Ledger` of what happened outside
//!     ├─ exhaustive     canonical workflows instead, with a crash at every single call
//!     └─ check          our own books (`Journals`) of every commit, and everything that must hold, by number
//! ```
//!
//! **The walk of one fault.** An executor appends a step's result. The engine's committer calls `SimStore::commit`; the call gets
//! number 271, and `Faults::fate(271)` says, from the seed and the number alone, that the node dies after it took effect. The
//! batch goes to the memory store from a task of the network, `World::committed` compares it with the books (fence, sequence,
//! inbox count, numbers) and writes it down; then `Process::crash` ends the group of the process. No task of it is polled again;
//! before anything else runs they are dropped where they stand, the committer that waits for the answer among them. The machine
//! starts another process after a while. Its engine sweeps, finds the run with a ready mark and a dead owner, claims it under the
//! next epoch, and replays. When the step begins again, `Env::begins` looks into the books, finds its result there, and reports
//! invariant 8; it does not, so the run goes on. In the end faults are switched off, everything comes to its end, and
//! `check::check_all` reads the journals once more.
//!
//! The same seed gives the same simulation, byte by byte of its timeline. `docs/simulation.md` says what is proved and what is not.

#![allow(
    missing_docs,
    reason = "a test tool: an item has a comment if its name does not say enough"
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
