//! Random plans of calls, as small numbers without references to a store, so that they shrink well.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

/// Nodes that appear in plans.
pub(super) const NODES: u8 = 3;
/// Stream names that appear in plans.
pub(super) const NAMES: u8 = 8;
/// Workflows, tags, dedup ids and rows of each kind that appear in plans.
pub(super) const FEW: u8 = 3;
/// Shared rows that appear in plans.
pub(super) const SHARED: u8 = 12;

#[derive(Clone, Debug)]
pub(super) enum Turn {
    Commit(Vec<Change>),
    /// Sends commits with ids of this node, perhaps twice.
    Send {
        sender: u8,
        again: bool,
        changes: Vec<Change>,
    },
    Advance(Duration),
    Renew(u8, Duration),
    Retire(u8),
    Reopen,
    Query(PlannedQuery),
}

#[derive(Clone, Debug)]
pub(super) struct PlannedQuery {
    pub(super) workflows: Vec<u8>,
    pub(super) statuses: Vec<u8>,
    pub(super) tag: Option<u8>,
    pub(super) created_from: Option<u8>,
    pub(super) created_before: Option<u8>,
    pub(super) limit: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) stream: Target,
    /// A closed stream that the new one supersedes.
    pub(super) supersedes: Option<u8>,
    pub(super) author: Author,
    /// The number of a new stream's first record.
    pub(super) begins_at: u8,
    pub(super) records: Vec<PlannedRecord>,
    pub(super) guard: Option<PlannedGuard>,
    pub(super) dedup: Option<u8>,
    pub(super) lease: PlannedLease,
    pub(super) run: Option<PlannedRun>,
    pub(super) status: Option<u8>,
    pub(super) ready: Option<bool>,
    pub(super) close: bool,
    pub(super) gate: PlannedGate,
    /// Shared rows to delete if they are unchanged.
    pub(super) delete_exact: Vec<u8>,
    pub(super) put: Vec<PlannedRow>,
    pub(super) delete: Vec<PlannedRow>,
    pub(super) drop: Vec<(u8, u8)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Create(u8),
    /// An existing stream, or sometimes an unknown one.
    Existing(u8),
    /// One or two closed streams, or sometimes an open or unknown one.
    Remove(u8, bool),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Author {
    Inbox,
    /// A change of rows.
    Rows,
    Executor {
        right_fence: bool,
        seq: Seq,
        /// The number of last records that the executor has not seen.
        behind: u8,
        progress: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Seq {
    Next,
    Last,
    Ahead,
    Behind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedRecord {
    Event(u8),
    Step(u8),
    Wait(u8),
    Data(u8),
    Large,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedGuard {
    InboxSeen(bool),
    EndsAt(bool),
    EventsBelow(u8),
    Present(PlannedRow),
    Absent(PlannedRow),
    Is(PlannedRow),
    /// Seconds after the start.
    NotBefore(u8),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedGate {
    Keep,
    Open,
    Hold,
    NeedSlot,
    OpenUnlessBegun,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedLease {
    Keep,
    Take(u8, u8),
    Release,
    Abandon,
    Revoke,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedRun {
    pub(super) workflow: u8,
    pub(super) status: u8,
    /// A bit per tag.
    pub(super) tags: u8,
    pub(super) created: u8,
}

/// A row, by kind and number.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedRow {
    Timer(u8),
    Rpc(u8),
    Idempotency(u8),
    Generation(u8),
    Outbox(u8),
    Stream(u8),
    Producer(u8),
    Shared(u8),
}

pub(super) fn turns() -> impl Strategy<Value = Vec<Turn>> {
    vec(turn(), 1..90)
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        20 => vec(change(), 1..6).prop_map(Turn::Commit),
        5 => (0..NODES, any::<bool>(), vec(change(), 1..6))
            .prop_map(|(sender, again, changes)| Turn::Send { sender, again, changes }),
        2 => seconds().prop_map(Turn::Advance),
        3 => (0..NODES, seconds()).prop_map(|(node, ttl)| Turn::Renew(node, ttl)),
        1 => (0..NODES).prop_map(Turn::Retire),
        1 => Just(Turn::Reopen),
        3 => query().prop_map(Turn::Query),
    ]
}

fn seconds() -> impl Strategy<Value = Duration> {
    (0u64..20).prop_map(Duration::from_secs)
}

fn query() -> impl Strategy<Value = PlannedQuery> {
    (
        vec(0..FEW, 0..3),
        vec(0u8..15, 0..4),
        weighted(0.2, 0..FEW),
        weighted(0.2, 0u8..10),
        weighted(0.2, 0u8..10),
        1usize..5,
    )
        .prop_map(
            |(workflows, statuses, tag, created_from, created_before, limit)| PlannedQuery {
                workflows,
                statuses,
                tag,
                created_from,
                created_before,
                limit,
            },
        )
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let rows = prop_oneof![
        // Most commits of an engine change no rows.
        1 => Just((Vec::new(), Vec::new(), Vec::new(), Vec::new())),
        1 => (vec(row(), 0..2), vec(row(), 0..2), drops(), vec(0..SHARED, 0..2)),
    ];
    (
        (stream(), weighted(0.3, any::<u8>())),
        author(),
        (prop_oneof![4 => Just(0), 1 => 0u8..9], vec(record(), 0..4)),
        weighted(0.15, guard()),
        (weighted(0.15, 0..FEW), weighted(0.2, run())),
        (marks(), gate()),
        rows,
    )
        .prop_map(|(stream, author, records, guard, given, marks, rows)| {
            let (dedup, run) = given;
            let ((lease, status, ready, close), gate) = marks;
            let (put, delete, drop, delete_exact) = rows;
            let (stream, supersedes) = stream;
            let (begins_at, records) = records;
            Change {
                stream,
                supersedes,
                author,
                begins_at,
                records,
                guard,
                dedup,
                lease,
                run,
                status,
                ready,
                close,
                gate,
                delete_exact,
                put,
                delete,
                drop,
            }
        })
}

fn marks() -> impl Strategy<Value = (PlannedLease, Option<u8>, Option<bool>, bool)> {
    let unrelated = (
        lease(),
        weighted(0.2, 0u8..15),
        weighted(0.2, any::<bool>()),
        prop::bool::weighted(0.03),
    );
    // An executor that suspends or ends its run.
    let leaving = (0u8..15, any::<bool>())
        .prop_map(|(status, close)| (PlannedLease::Release, Some(status), Some(false), close));
    prop_oneof![12 => unrelated, 1 => leaving]
}

fn drops() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop_oneof![
        9 => Just(Vec::new()),
        1 => vec((any::<u8>(), 0u8..12), 1..3),
    ]
}

fn stream() -> impl Strategy<Value = Target> {
    prop_oneof![
        2 => (0..NAMES).prop_map(Target::Create),
        12 => any::<u8>().prop_map(Target::Existing),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(pick, two)| Target::Remove(pick, two)),
    ]
}

fn author() -> impl Strategy<Value = Author> {
    let seq = prop_oneof![
        12 => Just(Seq::Next),
        3 => Just(Seq::Last),
        1 => Just(Seq::Ahead),
        1 => Just(Seq::Behind),
    ];
    prop_oneof![
        4 => Just(Author::Inbox),
        1 => Just(Author::Rows),
        6 => (prop::bool::weighted(0.9), seq, 0u8..4, any::<bool>()).prop_map(
            |(right_fence, seq, behind, progress)| Author::Executor { right_fence, seq, behind, progress }
        ),
    ]
}

fn record() -> impl Strategy<Value = PlannedRecord> {
    prop_oneof![
        4 => (0u8..20).prop_map(PlannedRecord::Event),
        4 => (0u8..20).prop_map(PlannedRecord::Step),
        1 => (0u8..3).prop_map(PlannedRecord::Wait),
        1 => (0u8..20).prop_map(PlannedRecord::Data),
        1 => Just(PlannedRecord::Large),
    ]
}

fn guard() -> impl Strategy<Value = PlannedGuard> {
    prop_oneof![
        prop::bool::weighted(0.6).prop_map(PlannedGuard::InboxSeen),
        prop::bool::weighted(0.6).prop_map(PlannedGuard::EndsAt),
        (0u8..8).prop_map(PlannedGuard::EventsBelow),
        row().prop_map(PlannedGuard::Present),
        row().prop_map(PlannedGuard::Absent),
        row().prop_map(PlannedGuard::Is),
        (0u8..40).prop_map(PlannedGuard::NotBefore),
    ]
}

fn lease() -> impl Strategy<Value = PlannedLease> {
    prop_oneof![
        12 => Just(PlannedLease::Keep),
        4 => (0..NODES, any::<u8>()).prop_map(|(node, nonce)| PlannedLease::Take(node, nonce)),
        1 => Just(PlannedLease::Release),
        1 => Just(PlannedLease::Abandon),
        1 => Just(PlannedLease::Revoke),
    ]
}

fn gate() -> impl Strategy<Value = PlannedGate> {
    prop_oneof![
        20 => Just(PlannedGate::Keep),
        2 => Just(PlannedGate::Open),
        1 => Just(PlannedGate::Hold),
        1 => Just(PlannedGate::NeedSlot),
        1 => Just(PlannedGate::OpenUnlessBegun),
    ]
}

fn run() -> impl Strategy<Value = PlannedRun> {
    (
        0..FEW,
        0u8..15,
        prop_oneof![3 => Just(0u8), 1 => 0u8..8],
        0u8..10,
    )
        .prop_map(|(workflow, status, tags, created)| PlannedRun {
            workflow,
            status,
            tags,
            created,
        })
}

fn row() -> impl Strategy<Value = PlannedRow> {
    prop_oneof![
        (0u8..12).prop_map(PlannedRow::Timer),
        (0..FEW).prop_map(PlannedRow::Rpc),
        (0..FEW).prop_map(PlannedRow::Idempotency),
        (0..FEW).prop_map(PlannedRow::Generation),
        (0..FEW).prop_map(PlannedRow::Outbox),
        (0..FEW).prop_map(PlannedRow::Stream),
        (0..FEW).prop_map(PlannedRow::Producer),
        (0..SHARED).prop_map(PlannedRow::Shared),
        (0..SHARED).prop_map(PlannedRow::Shared),
    ]
}
