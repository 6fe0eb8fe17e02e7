//! Executes runs: claims them, commits in groups, keeps them hot, fires timers, recovers after a crash.
//!
//! The engine does what the machine decides and what the store allows. It never runs workflow code itself: a [`Worker`]
//! does, given an [`Activation`] with the run's journal and the right to append to it. Everything durable goes through
//! one [`committer`](self), and nothing leaves the engine before its commit.

mod activation;
mod answer;
mod catalog;
mod committer;
mod control;
mod core;
mod declares;
mod dispatch;
mod effects;
mod endings;
mod engine;
mod error;
mod failures;
mod generation;
mod hot;
mod inspect;
mod known;
mod lane;
mod lease;
mod mailbox;
mod outbox;
mod projection;
mod reach;
mod recovery;
mod request;
mod roles;
mod runtime;
mod schema;
mod seat;
mod send;
mod settings;
mod shutdown;
mod start;
mod stats;
pub mod streams;
mod tasks;
mod timer_queue;
mod timers;
mod tokio_runtime;
mod under_way;
mod watch;
mod workers;

pub use activation::{Activation, Append, Message, Offer, Seat, Then, Worker};
pub use answer::{Answer, Answered};
pub use committer::Grouping;
pub use control::{
    Because, BulkProgress, BulkReport, Control, Done, Effect, ForkRun, RequestOrigin, Retention,
    Revival, Settlement,
};
pub use declares::Declares;
pub use endings::{EndedRun, Ending, Endings};
pub use engine::{Engine, EngineParts};
pub use error::{
    AnswerError, CodedError, ControlError, EventNotAccepted, InvalidOptions, OfferError,
    OpenRpcError, OtherFork, OtherGeneration, OtherWorkflow, ReadError, RpcNotOpen, RunExists,
    RunFinished, SchemaMismatch, SendError, StartError, TooManyEvents, Unavailable,
    UnknownOperation, UnknownRun, UnknownWorkflow, UnreadableJournal, WrongState,
};
pub use failures::{FailureEvent, FailureHook};
pub use inspect::RunInfo;
pub use known::KnownWorkflow;
pub use request::Question;
pub use roles::{Role, Roles, UnknownRole};
pub use runtime::Runtime;
pub use send::{SendEvent, Sent};
pub use settings::Settings;
pub use start::{Start, Started};
pub use stats::Stats;
pub use tokio_runtime::TokioRuntime;
pub use watch::{Emission, Emissions, Records};
pub use workers::Offered;

#[cfg(test)]
mod fuzz_tests;
pub mod simulation;
