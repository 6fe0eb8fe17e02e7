//! The [`Store`] contract with its commits and guards, the [`Bus`] of hints, and the in-memory
//! reference that every other backend is compared with.
//!
//! A store holds streams, records and rows. It does not interpret records, with one exception: it
//! counts inbox records and unconsumed events ([`everstep_model::FrameHeader`]), because guards
//! need the counts.

mod bus;
mod clock;
mod commit;
mod contract;
pub mod encoding;
mod error;
mod head;
mod intercept;
mod judge;
mod list;
mod memory;
mod outcome;
mod row;
mod shared_row;
mod stream_row;

pub use bus::{Bus, Hint, LocalBus, Subscription};
pub use clock::{Clock, SystemClock};
pub use commit::{
    AppendCommit, Claim, Commit, CommitId, CreateCommit, DeliverCommit, Executor, ExecutorLease,
    Fence, Gate, GateChange, Guard, InboxLease, LeaseChange, RemoveCommit, RowChanges, RowsCommit,
};
pub use contract::{
    BoxFuture, Description, Lease, Page, ReadRequest, ReadyRun, Store, StreamRef, TimerQuery,
};
pub use error::StoreError;
pub use head::{Head, Owner};
pub use intercept::{Answer, Call, Intercept};
pub use judge::{
    JudgeContext, UNPROVEN_MAX, Verdict, judge_append, judge_create, judge_deliver, judge_removal,
    judge_rows, judge_superseded, status_once_taken, status_once_woken,
};
pub use list::{Count, Cursor, InvalidCursor, ListPage, ListQuery, RunRow};
pub use memory::MemoryStore;
pub use outcome::{Outcome, Refusal};
pub use row::{GenerationRow, IdempotencyRow, OutboxRow, Row, RowKey, RpcRow, TimerRow};
pub use shared_row::{CommitTime, KeyPart, KeyTooLong, RowRange, SharedKey, SharedKind, SharedRow};
pub use stream_row::{ForkPoint, ProducerMark, ProducerRow, StreamRow};

#[cfg(test)]
mod fuzz_tests;
