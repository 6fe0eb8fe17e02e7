//! Executes runs: claims them, commits in groups, keeps them hot, fires timers, recovers after a crash.
//!
//! The engine does what the machine decides and what the store allows. It never runs workflow code itself: a [`Worker`]
//! does, given an [`Activation`] with the run's journal and the right to append to it. Everything durable goes through
//! one [`committer`](self), and nothing leaves the engine before its commit.

mod commit;
mod core;
mod engine;
mod error;
mod execution;
mod hints;
mod node;
mod observers;
mod outbox;
mod requests;
mod retention;
mod roles;
mod runs;
mod runtime;
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
    AnswerError, CodedError, ControlError, EventNotAccepted, InvalidOptions, OfferError,
    OpenRpcError, OtherFork, OtherGeneration, OtherWorkflow, ReadError, RpcNotOpen, RunExists,
    RunFinished, SchemaMismatch, SendError, StartError, TooManyEvents, Unavailable,
    UnknownOperation, UnknownRun, UnknownWorkflow, UnreadableJournal, WrongState,
};
pub use observers::{Emission, Emissions, EndedRun, Ending, Endings, FailureEvent, FailureHook};
pub use requests::control::{
    Because, BulkProgress, BulkReport, Control, Done, Effect, ForkRun, RequestOrigin, Revival,
    Settlement,
};
pub use requests::{
    Answer, Answered, PendingReply, Records, RunInfo, SendEvent, Sent, Start, Started,
};
pub use retention::Retention;
pub use roles::{Role, Roles, UnknownRole};
pub use runtime::Runtime;
pub use settings::Settings;
pub use stats::Stats;
pub use tokio_runtime::TokioRuntime;
pub use workers::{
    Activation, Append, Declares, KnownWorkflow, Message, Offer, Offered, Seat, Then, Worker,
};

#[cfg(test)]
mod fuzz_tests;
pub mod simulation;
