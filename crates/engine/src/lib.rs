//! Executes runs: claims them, commits in batches, keeps them in memory, fires timers, recovers
//! after a crash.
//!
//! The engine performs what the machine decides and the store allows. It does not run workflow code
//! itself: a [`Worker`] does, given an [`Activation`] with the journal of the run and the right to
//! append to it. Every change goes through the committer, and nothing leaves the engine before its
//! commit is durable.
//!
//! # Layers
//!
//! Modules depend only on those above them. Each type receives its dependencies when it is built.
//!
//! ```text
//! error, lock, roles, retention, settings, runtime, tasks, stats
//! node, runs, journals  store, bus, settings and tasks of this node; how runs are found and read
//! observers             watchers, emissions, ended runs, failure hooks
//! commit                committer, projection, side effects of durable commits
//! workers               registry, catalog, checks of payloads
//! execution             claims, runs in memory, delivery to inboxes, leases, recovery
//! requests, streams     one file per request
//! timers, outbox        fire timers; deliver effects on other runs with the requests above
//! core                  builds all parts and starts their tasks
//! engine                the public handle; hints and shutdown
//! ```
//!
//! Three calls go against this order, through traits that the upper module of the table owns:
//! `commit` passes timers and effects on (`TimerSink`, `OutboxSink`), and the deletion of a run
//! delivers its effects first (`OutboxFlush`).

mod commit;
mod core;
mod engine;
mod error;
mod execution;
mod hints;
mod journals;
mod lock;
mod node;
mod observers;
mod outbox;
mod requests;
mod retention;
mod roles;
mod runs;
mod runtime;
mod scans;
mod settings;
mod shutdown;
mod stats;
pub mod streams;
mod tasks;
mod timers;
mod tokio_runtime;
mod workers;

pub use commit::Grouping;
pub use engine::{Engine, EngineParts};
pub use error::{
    AnswerError, CodedError, ControlError, EventNotAccepted, InvalidOptions, JournalTooLarge,
    OfferError, OpenRpcError, OtherFork, OtherGeneration, OtherWorkflow, ReadError, RpcNotOpen,
    RunExists, RunFinished, SchemaMismatch, SendError, StartError, TooManyEvents, Unavailable,
    UnknownGeneration, UnknownOperation, UnknownRun, UnknownWorkflow, UnreadableJournal,
    WrongState,
};
pub use observers::{
    Emission, Emissions, EndedRun, Ending, Endings, FailureEvent, FailureHook, Feed,
};
pub use requests::control::{
    Because, BulkProgress, Control, Done, Effect, ForkRun, ImportRun, RequestOrigin, Revival,
    Settlement,
};
pub use requests::{
    Answer, Answered, JournalPage, PageSize, PendingReply, Records, RunInfo, SendEvent, Sent,
    Start, Started,
};
pub use retention::Retention;
pub use roles::{Role, Roles, UnknownRole};
pub use runtime::Runtime;
pub use settings::Settings;
pub use stats::Stats;
pub use tokio_runtime::TokioRuntime;
pub use workers::{
    Activation, Append, Declares, KnownWorkflow, Message, Offer, Offered, Seat, Then, Worker,
    check_schema,
};

#[cfg(test)]
mod fuzz_tests;
pub mod simulation;
