//! What happens, as small numbers: which stream of those there are, a right or a wrong fence, this
//! or that row.

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
    /// Commits with ids of this node, perhaps sent again.
    Send {
        sender: u8,
        again: bool,
        changes: Vec<Change>,
    },
    Advance(Duration),
    Renew(u8, Duration),
    Retire(u8),
    Reopen,
    Look(Look),
}

#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) workflows: Vec<u8>,
    pub(super) statuses: Vec<u8>,
    pub(super) tag: Option<u8>,
    pub(super) created_from: Option<u8>,
    pub(super) created_before: Option<u8>,
    pub(super) limit: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) stream: Stream,
    /// A closed stream whose place it takes.
    pub(super) supersedes: Option<u8>,
    pub(super) author: Who,
    /// The number of a new stream's first record.
    pub(super) begins_at: u8,
    pub(super) records: Vec<Said>,
    pub(super) guard: Option<Asked>,
    pub(super) dedup: Option<u8>,
    pub(super) lease: Lease,
    pub(super) run: Option<Run>,
    pub(super) status: Option<u8>,
    pub(super) ready: Option<bool>,
    pub(super) close: bool,
    pub(super) gate: Gating,
    /// Shared rows that go if they are unchanged.
    pub(super) delete_exact: Vec<u8>,
    pub(super) put: Vec<Kept>,
    pub(super) delete: Vec<Kept>,
    pub(super) drop: Vec<(u8, u8)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Create(u8),
    /// One of those there are, or one that is not.
    Existing(u8),
    /// One or two of those that are closed, or one that is not.
    Remove(u8, bool),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    Inbox,
    /// Only rows change.
    Rows,
    Executor {
        right: bool,
        seq: Seq,
        /// How many records before the end it has seen.
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
pub(super) enum Said {
    Event(u8),
    Step(u8),
    Wait(u8),
    Data(u8),
    Large,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    InboxSeen(bool),
    EndsAt(bool),
    EventsBelow(u8),
    Present(Kept),
    Absent(Kept),
    Is(Kept),
    /// Seconds after the beginning.
    NotBefore(u8),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Gating {
    Keep,
    Open,
    Hold,
    NeedSlot,
    OpenUnlessBegun,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Lease {
    Keep,
    Take(u8, u8),
    Release,
    Abandon,
    Revoke,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) workflow: u8,
    pub(super) status: u8,
    /// A bit per tag.
    pub(super) tags: u8,
    pub(super) created: u8,
}

/// A row, by kind and number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
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
        3 => look().prop_map(Turn::Look),
    ]
}

fn seconds() -> impl Strategy<Value = Duration> {
    (0u64..20).prop_map(Duration::from_secs)
}

fn look() -> impl Strategy<Value = Look> {
    (
        vec(0..FEW, 0..3),
        vec(0u8..15, 0..4),
        weighted(0.2, 0..FEW),
        weighted(0.2, 0u8..10),
        weighted(0.2, 0u8..10),
        1usize..5,
    )
        .prop_map(
            |(workflows, statuses, tag, created_from, created_before, limit)| Look {
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
        // Most commits of an engine touch none.
        1 => Just((Vec::new(), Vec::new(), Vec::new(), Vec::new())),
        1 => (vec(kept(), 0..2), vec(kept(), 0..2), drops(), vec(0..SHARED, 0..2)),
    ];
    (
        (stream(), weighted(0.3, any::<u8>())),
        who(),
        (prop_oneof![4 => Just(0), 1 => 0u8..9], vec(said(), 0..4)),
        weighted(0.15, asked()),
        (weighted(0.15, 0..FEW), weighted(0.2, run())),
        (marks(), gating()),
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

fn marks() -> impl Strategy<Value = (Lease, Option<u8>, Option<bool>, bool)> {
    let unrelated = (
        lease(),
        weighted(0.2, 0u8..15),
        weighted(0.2, any::<bool>()),
        prop::bool::weighted(0.03),
    );
    // As an executor does that suspends or ends its run.
    let leaving = (0u8..15, any::<bool>())
        .prop_map(|(status, close)| (Lease::Release, Some(status), Some(false), close));
    prop_oneof![12 => unrelated, 1 => leaving]
}

fn drops() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop_oneof![
        9 => Just(Vec::new()),
        1 => vec((any::<u8>(), 0u8..12), 1..3),
    ]
}

fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![
        2 => (0..NAMES).prop_map(Stream::Create),
        12 => any::<u8>().prop_map(Stream::Existing),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(pick, two)| Stream::Remove(pick, two)),
    ]
}

fn who() -> impl Strategy<Value = Who> {
    let seq = prop_oneof![
        12 => Just(Seq::Next),
        3 => Just(Seq::Last),
        1 => Just(Seq::Ahead),
        1 => Just(Seq::Behind),
    ];
    prop_oneof![
        4 => Just(Who::Inbox),
        1 => Just(Who::Rows),
        6 => (prop::bool::weighted(0.9), seq, 0u8..4, any::<bool>()).prop_map(
            |(right, seq, behind, progress)| Who::Executor { right, seq, behind, progress }
        ),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => (0u8..20).prop_map(Said::Event),
        4 => (0u8..20).prop_map(Said::Step),
        1 => (0u8..3).prop_map(Said::Wait),
        1 => (0u8..20).prop_map(Said::Data),
        1 => Just(Said::Large),
    ]
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        prop::bool::weighted(0.6).prop_map(Asked::InboxSeen),
        prop::bool::weighted(0.6).prop_map(Asked::EndsAt),
        (0u8..8).prop_map(Asked::EventsBelow),
        kept().prop_map(Asked::Present),
        kept().prop_map(Asked::Absent),
        kept().prop_map(Asked::Is),
        (0u8..40).prop_map(Asked::NotBefore),
    ]
}

fn lease() -> impl Strategy<Value = Lease> {
    prop_oneof![
        12 => Just(Lease::Keep),
        4 => (0..NODES, any::<u8>()).prop_map(|(node, nonce)| Lease::Take(node, nonce)),
        1 => Just(Lease::Release),
        1 => Just(Lease::Abandon),
        1 => Just(Lease::Revoke),
    ]
}

fn gating() -> impl Strategy<Value = Gating> {
    prop_oneof![
        20 => Just(Gating::Keep),
        2 => Just(Gating::Open),
        1 => Just(Gating::Hold),
        1 => Just(Gating::NeedSlot),
        1 => Just(Gating::OpenUnlessBegun),
    ]
}

fn run() -> impl Strategy<Value = Run> {
    (
        0..FEW,
        0u8..15,
        prop_oneof![3 => Just(0u8), 1 => 0u8..8],
        0u8..10,
    )
        .prop_map(|(workflow, status, tags, created)| Run {
            workflow,
            status,
            tags,
            created,
        })
}

fn kept() -> impl Strategy<Value = Kept> {
    prop_oneof![
        (0u8..12).prop_map(Kept::Timer),
        (0..FEW).prop_map(Kept::Rpc),
        (0..FEW).prop_map(Kept::Idempotency),
        (0..FEW).prop_map(Kept::Generation),
        (0..FEW).prop_map(Kept::Outbox),
        (0..FEW).prop_map(Kept::Stream),
        (0..FEW).prop_map(Kept::Producer),
        (0..SHARED).prop_map(Kept::Shared),
        (0..SHARED).prop_map(Kept::Shared),
    ]
}
