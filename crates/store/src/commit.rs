//! Commits: everything that can change in a store, as data.

use everstep_model::{
    Epoch, ExecutorSeq, NodeId, Nonce, Record, RecordNumber, RecordRange, RunStatus, StreamName,
    StreamNumber, Timestamp,
};

use crate::list::RunRow;
use crate::row::{Row, RowKey};

/// The right to execute a run: compared as a pair inside every executor commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// Higher each time the run is claimed.
    pub epoch: Epoch,
    /// The random mark of this claim.
    pub nonce: Nonce,
}

/// Which commit this is: known by it, a commit that is sent again takes effect once.
///
/// A sender numbers its commits in the order it sends them. It sends a batch once it knows what became of everything
/// numbered lower, or has given that up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommitId {
    /// Who sends it: a node, or one of several names under which a node sends batches side by side. A node that starts again is
    /// another one.
    pub node: NodeId,
    /// Which of its commits, from 1.
    pub number: u64,
}

/// Which stream a commit is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A stream that does not exist yet. Refused with [`crate::Refusal::Exists`] if it does.
    Create(StreamName),
    /// An existing stream.
    Stream(StreamNumber),
    /// Streams that go for good, the newest generation of a run first: their records, heads, list rows, dedup ids,
    /// rpcs and effects, and what the commit itself deletes. Timers are found by time, so the commit names those left.
    /// All must be closed, except users' streams, and nothing may have superseded the first. A stream created later has a
    /// higher term. Of guards only those on rows are judged; rows of other streams may be put.
    Remove(Vec<StreamNumber>),
}

/// In whose name a commit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Anybody: only inbox records may be appended, except by a creation, which may begin with a copy of a journal.
    Inbox,
    /// The executor of the run. Its fence must match and `seq` must be the last one plus one; the last one repeated
    /// is answered with its original outcome.
    Executor {
        /// Its right.
        fence: Fence,
        /// The number of this commit under that right, from 1.
        seq: ExecutorSeq,
        /// How many records it knows: the outcome reports those that landed between.
        seen: RecordNumber,
        /// Whether the commit resolves an operation; crash loops are counted by its absence.
        progress: bool,
    },
}

/// A condition on the moment of the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The inbox holds exactly this many records: nothing came that the executor has not seen.
    InboxSeen(u64),
    /// The stream ends here: nothing at all was appended since the author read it.
    EndsAt(RecordNumber),
    /// No more than this many events are unconsumed.
    UnconsumedEventsBelow(u64),
    /// The row exists.
    RowPresent(RowKey),
    /// The row does not exist.
    RowAbsent(RowKey),
    /// The row is exactly this: nobody changed it since the author read it.
    RowIs(Row),
}

/// What happens to the right to execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseChange {
    /// Nothing.
    #[default]
    Keep,
    /// It goes to this node if nobody alive holds it; the epoch rises by one. If it is held, the rest of the commit
    /// still takes effect and the outcome says that nothing was taken.
    TakeIfFree {
        /// Who takes it.
        node: NodeId,
        /// The random mark of this claim.
        nonce: Nonce,
    },
    /// Its holder gives it up.
    Release,
    /// Its holder has lost whoever executed the run: nobody holds it, and that counts like the death of a node.
    Abandon,
    /// It is withdrawn: the epoch rises and nobody holds it, so nothing its former holder sends lands any more.
    Revoke,
}

/// One atomic change of one stream and its rows: all of it, or nothing and the reason.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The stream.
    pub target: Target,
    /// In whose name.
    pub author: Author,
    /// The engine's clock.
    pub now: Timestamp,
    /// Which commit it is; none if it will not be sent again.
    pub id: Option<CommitId>,
    /// Conditions, judged in order.
    pub guards: Vec<Guard>,
    /// An id of the sender's choice. If the stream has seen it, the answer is the original outcome.
    pub dedup: Option<String>,
    /// The number of the first record of a stream that is created: a fork goes on counting where its source ends.
    pub begins_at: RecordNumber,
    /// What is appended. A closed stream takes nothing; a commit that only deletes rows is no such thing, because what a
    /// run left behind is cleared away after its end, and after its removal.
    pub records: Vec<Record>,
    /// The right to execute.
    pub lease: LeaseChange,
    /// The run's list row, given when it is created.
    pub run: Option<RunRow>,
    /// A closed stream whose place in the lists this one takes: a run is listed once, as its latest generation.
    pub supersedes: Option<StreamNumber>,
    /// The run's new status, given only when it changes. A run that is taken becomes `running` by itself, unless
    /// it is pausing, paused, cancelling or rolling back.
    pub status: Option<RunStatus>,
    /// Sets or clears the mark that the run has something to do.
    pub ready: Option<bool>,
    /// Closes the stream for good.
    pub close: bool,
    /// Rows that appear or change. They belong to the commit's stream: the store fills in their stream number, which
    /// the author of a creation cannot know, and where an append of a producer ended. Only a stream row that names a stream
    /// is that stream's.
    pub put: Vec<Row>,
    /// Rows that go, before those of `put` appear; one that is not there is no error.
    pub delete: Vec<RowKey>,
    /// Records that go, as named by a `loop_advanced` in this commit. It cannot drop its own records.
    pub drop: Vec<RecordRange>,
}

impl Commit {
    /// A commit that changes nothing yet.
    #[must_use]
    pub fn new(target: Target, author: Author, now: Timestamp) -> Self {
        Self {
            target,
            author,
            now,
            id: None,
            guards: Vec::new(),
            dedup: None,
            begins_at: RecordNumber(0),
            records: Vec::new(),
            lease: LeaseChange::Keep,
            run: None,
            supersedes: None,
            status: None,
            ready: None,
            close: false,
            put: Vec::new(),
            delete: Vec::new(),
            drop: Vec::new(),
        }
    }

    /// Whether it does nothing but delete rows, which a closed stream allows, and one that is gone.
    #[must_use]
    pub fn only_deletes(&self) -> bool {
        !self.delete.is_empty() && self.put.is_empty() && self.only_rows()
    }

    /// Whether it does nothing but change rows, which a user's stream allows when it is closed.
    #[must_use]
    pub fn only_rows(&self) -> bool {
        self.records.is_empty()
            && self.drop.is_empty()
            && self.run.is_none()
            && self.supersedes.is_none()
            && self.status.is_none()
            && self.ready.is_none()
            && !self.close
            && self.lease == LeaseChange::Keep
            && self.author == Author::Inbox
    }
}
