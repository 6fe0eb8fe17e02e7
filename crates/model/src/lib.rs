//! The vocabulary of Everstep: the types of everything that is stored or sent, and their encodings.
//!
//! This crate does no I/O and reads no clock. `machine` defines what records mean, the stores where
//! they are kept.

// The samples use this crate by its name.
#[cfg(test)]
extern crate self as everstep_model;

mod attribute;
mod codec;
mod control;
mod description;
mod duration;
mod error_code;
mod failure;
mod frame;
mod id;
mod journal_json;
pub mod limits;
mod link;
mod location;
mod name;
mod offset;
mod payload;
#[doc(hidden)]
pub mod planted;
pub mod record;
mod record_feed;
mod retry;
#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "other crates use the rest")]
#[path = "../../samples/src/lib.rs"]
mod samples;
#[cfg(feature = "schema")]
mod schema;
mod status;
mod text;
mod time;
mod trace;

pub use attribute::{InvalidAttribute, check_attribute};
pub use codec::{DecodeError, FORMAT_VERSION};
pub use control::{Control, Verb};
pub use description::{Described, DescribedRpc, Description};
pub use duration::{InvalidDuration, days, hours, millis, minutes, parse_duration, secs};
pub use error_code::ErrorCode;
pub use failure::Failure;
pub use frame::{Frame, FrameHeader};
pub use id::{
    Epoch, ExecutorSeq, Generation, InvalidRunId, NodeId, Nonce, RpcId, RunId, Seed, StreamName,
    StreamNumber, idempotency_key,
};
pub use journal_json::{
    InvalidJournalLine, entry_from_json, entry_to_exact_json, entry_to_json, one_line,
    record_from_json, record_to_exact_json,
};
pub use link::Link;
pub use location::{InvalidLocation, Location, Scope, Segment};
pub use name::{Interner, InvalidName, Name};
pub use offset::{InvalidOffset, Offset, RecordNumber, RecordRange, Term};
pub use payload::{InvalidPayload, Payload, PayloadError};
pub use record::{Actor, Body, Entry, Origin, Record};
pub use record_feed::RecordFeed;
pub use retry::{Backoff, LONG_ATTEMPT, RetryPolicy, StepOptions, UndoMode};
pub use status::{RunStatus, StepStatus, UnknownStatus};
pub use time::{InvalidTimestamp, Timestamp};
pub use trace::{InvalidTraceParent, SpanId, TraceId, TraceParent};

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod protocol_tests;
