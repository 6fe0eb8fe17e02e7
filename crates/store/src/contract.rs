//! The contract of a store.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use everstep_model::{Entry, Name, NodeId, RecordNumber, StreamName, StreamNumber, Timestamp};

use crate::commit::Commit;
use crate::error::StoreError;
use crate::head::Head;
use crate::list::{Count, ListPage, ListQuery};
use crate::outcome::Outcome;
use crate::row::{OutboxRow, Row, RowKey, TimerRow};
use crate::shared_row::{RowRange, SharedRow};

/// A boxed future, so that `Store` can be used as a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Identifies a stream by name or by number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub enum StreamRef {
    Name(StreamName),
    Number(StreamNumber),
}

/// Which records to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct ReadRequest {
    pub stream: StreamNumber,
    pub from: RecordNumber,
    /// The number of records after which the page ends. A store may continue to the end of a
    /// commit.
    pub limit: usize,
    /// The bytes of messages after which the page ends. A store may continue to the end of a
    /// commit, and returns at least one record, however large it is, if there is one from `from`
    /// on.
    pub bytes: usize,
}

/// A page of records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The records in order. Numbers are missing only where records were dropped.
    pub entries: Vec<Entry>,
    /// The end of the stream at the time of the read. If the last entry is before it, there are
    /// more records.
    pub end: RecordNumber,
    /// Whether the stream was closed at the time of the read.
    pub closed: bool,
}

/// Which timers to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerQuery {
    /// Selects timers that are due at or before this time.
    pub until: Timestamp,
    /// Continues after this timer.
    pub after: Option<TimerRow>,
    /// The maximum number of timers.
    pub limit: usize,
}

/// A run with a ready mark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct ReadyRun {
    pub stream: StreamNumber,
    pub workflow: Name,
    pub version: u32,
    /// The node that holds the run, if that node's lease is alive.
    pub executed_by: Option<NodeId>,
}

/// The lease of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Lease {
    pub node: NodeId,
    /// The time, by the store's clock, after which the lease expires unless it is renewed.
    pub ttl: Duration,
}

/// Describes a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Description {
    pub name: &'static str,
    /// The failures that an acknowledged commit survives.
    pub durability: &'static str,
    /// Whether only one process can have it open. Leases then end with the process.
    pub exclusive: bool,
    /// Whether processes with different code may share it. Nodes then publish which workflows they
    /// execute.
    pub spans_processes: bool,
}

/// The durable state of an installation.
///
/// ```text
///   executor ──┐                       ┌─ journal   (stream number, record number) → frame
///   sender   ──┼─ commit(batch) ──────▶├─ head, list row, ready mark
///   timers   ──┘   all durable         └─ rows: timers, open rpcs, dedup ids, idempotency keys, outbox,
///                  when it returns        user streams and their producers
/// ```
///
/// **Atomic.** Each commit takes effect wholly or not at all. A batch may take effect in part: each
/// commit has its own outcome. Commits of one stream are judged in the order of the batch, each
/// seeing the ones before it.
///
/// **Durable.** When `commit` returns `Ok`, every `Committed` outcome survives the failures that
/// [`Description::durability`] names. A read, on any node, MUST NOT return data that is not yet
/// durable.
///
/// **Fenced.** An executor commit takes effect only if epoch and nonce equal the head's, inside the
/// commit itself, and its sequence is the last plus one (1 for a new epoch). The last sequence
/// repeated MUST return `Duplicate` with the original record number. Fences are kept as long as the
/// stream exists.
///
/// **Numbered.** Records get consecutive numbers from the head inside the commit. Streams get
/// numbers in the order of creation; a number is never reused, not even after a removal.
///
/// **Removed.** A removal deletes all data of its streams in one commit; their names are free
/// again. A stream that is created after a removal has a higher term than any that was removed, so
/// an offset never changes its meaning.
///
/// **Failing.** A commit that needs unreadable data is refused with [`crate::Refusal::Unreadable`],
/// and so is every later commit of the batch to the same stream, to preserve their order; the rest
/// of the batch is judged normally. `Err` from `commit` concerns the store as a whole: it could not
/// be reached, written or synced, and the outcome of the whole batch is unknown. After a failed
/// sync a store refuses all further writes with [`StoreError::Poisoned`].
///
/// **Sent again.** After `Err` the same commits may be sent again. A commit with an id
/// ([`Commit::id`]) MUST take effect once, and be answered with its original outcome, whatever was
/// committed in between. To this end a store keeps the outcomes of each node's last batch, written
/// together with that batch. A new batch discards those numbered lower than its first commit; such
/// a commit is refused with `OutOfOrder` from then on. All outcomes of a node are discarded when it
/// retires, or long after its lease has expired. An exclusive store may ignore ids: its answers do
/// not get lost, and after `Err` it accepts no more commits.
///
/// **Damaged.** `head`, `read` and `row` fail where they meet damage. `list`, `ready` and `timers`
/// leave out damaged rows and log each of them as an error, so that one damaged run does not block
/// the others.
///
/// **Shared.** A shared row belongs to no stream: commits of any stream may guard, put and delete
/// it, and removing a stream does not remove it.
///
/// **Gated.** The gate in the head of a run decides what an inbox commit may do; see
/// [`crate::Gate`]. A commit that opens the gate may set the ready mark and claim the run.
///
/// **Time.** [`Commit::now`] and query times are the engine's. Leases, [`crate::Guard::NotBefore`]
/// and the times that the store fills into shared rows use the store's own clock. A node without a
/// lease row counts as dead.
pub trait Store: Send + Sync + 'static {
    /// Applies a batch. See the contract above.
    fn commit<'a>(&'a self, batch: &'a [Commit])
    -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>>;

    /// Returns the head of a stream, or `None` if the stream does not exist.
    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>>;

    /// Returns a page of records, or `None` if the stream does not exist.
    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>>;

    /// Returns one page of the list of runs.
    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>>;

    /// Counts the runs that match the filters of a query. Ignores its limit and cursor.
    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>>;

    /// Returns timers in the order in which they are due.
    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>>;

    /// Returns the runs with a ready mark that follow `after`, by stream number.
    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>>;

    /// Returns the undelivered effects that follow `after`, by stream and key.
    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>>;

    /// Returns one row.
    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>>;

    /// Returns a range of shared rows, in the order of their keys.
    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>>;

    /// Renews the lease of a node. Other nodes can claim its runs once the lease has expired.
    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ends the lease of a node. Its runs can be claimed at once.
    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns the description of this backend.
    fn describe(&self) -> Description;

    /// Runs the task that calls [`Store::commit`] on the thread on which the store waits for
    /// answers: each answer then reaches the task without waking another thread. Returns the task
    /// if there is no such thread.
    fn host(&self, committer: BoxFuture<'static, ()>) -> Option<BoxFuture<'static, ()>> {
        Some(committer)
    }
}
