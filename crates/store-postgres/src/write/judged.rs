//! Encodes commits to be judged as the arguments of one call. Commits refer to streams, names and
//! rows by slot.

use std::collections::BTreeMap;

use everstep_model::{Origin, Record, StreamNumber};
use everstep_store::{Commit, Executor, Gate, GateChange, Guard, InboxLease, LeaseChange, RunRow};

use crate::number::{count, millis, node, nonce, slot};
use crate::schema::rows::{Kind, StoredKey, expected_contents};
use crate::write::columns::Columns;
use crate::write::framed::Framed;
use crate::write::row_slots::RowSlots;

const HAS_PROGRESS: i32 = 1;
const HAS_FOREIGN: i32 = 2;
const ONLY_DELETES: i32 = 4;
const CLOSES: i32 = 8;
const SAYS_READY: i32 = 16;
const IS_READY: i32 = 32;
const OF_USER: i32 = 64;

/// Returns the arguments of a call for these commits, in their order.
pub(crate) fn columns(commits: &[&Commit]) -> Columns {
    let mut judged = Judged::new(commits);
    for (index, commit) in commits.iter().enumerate() {
        judged.add(index, commit);
    }
    judged.finish()
}

struct Judged {
    columns: Columns,
    /// The slot of each stream.
    streams: BTreeMap<StreamNumber, i32>,
    /// The slot of each name to create.
    names: BTreeMap<Vec<u8>, i32>,
    rows: RowSlots,
}

impl Judged {
    fn new(commits: &[&Commit]) -> Self {
        let mut streams: BTreeMap<StreamNumber, bool> = BTreeMap::new();
        let mut names: BTreeMap<Vec<u8>, i32> = BTreeMap::new();
        for commit in commits {
            if let Some(name) = commit.created() {
                names.insert(name.as_str().as_bytes().to_vec(), 0);
            }
            for number in commit.streams() {
                *streams.entry(number).or_default() |= reads_run(commit);
            }
        }
        let mut columns = Columns::default();
        // In the order of their numbers, which is the order in which they are locked.
        for (number, with_run) in &streams {
            columns.s_number.push(count(number.0));
            columns.s_with_run.push(*with_run);
        }
        for (at, (name, of_name)) in names.iter_mut().enumerate() {
            *of_name = slot(at);
            columns.n_name.push(name.clone());
        }
        let numbered = streams.into_keys().enumerate();
        Self {
            columns,
            streams: numbered.map(|(at, number)| (number, slot(at))).collect(),
            names,
            rows: RowSlots::new(commits.len()),
        }
    }

    fn stream(&self, number: StreamNumber) -> i32 {
        self.streams.get(&number).copied().unwrap_or(0)
    }

    fn add(&mut self, index: usize, commit: &Commit) {
        let own = match commit {
            Commit::Create(commit) => {
                let own = self.names.get(commit.name.as_str().as_bytes());
                own.copied().unwrap_or(0)
            }
            _ => commit.stream().map_or(0, |number| self.stream(number)),
        };
        let columns = &mut self.columns;
        let id = commit.id();
        columns.c_number.push(id.map_or(0, |id| count(id.number)));
        columns.c_kind.push(kind(commit));
        columns.c_slot.push(own);
        columns.c_flags.push(flags(commit));
        columns.c_now.push(millis(commit.now()));
        let status = commit.status();
        columns.c_status.push(status.map_or(0, |s| s.code().into()));
        self.add_creation(commit);
        self.add_executor(commit.executor());
        self.add_records(commit.records());
        self.add_lease(commit.lease());
        self.columns.c_gate.push(gate(commit));
        self.add_guards(index, commit);
        self.add_rows(index, commit);
        for range in commit.dropped() {
            self.columns.x_commit.push(slot(index));
            self.columns.x_first.push(count(range.first.0));
            self.columns.x_last.push(count(range.last.0));
        }
        if let Commit::Remove(commit) = commit {
            for number in &commit.streams {
                let removed = self.stream(*number);
                self.columns.m_commit.push(slot(index));
                self.columns.m_slot.push(removed);
            }
        }
    }

    fn add_creation(&mut self, commit: &Commit) {
        let (begins, supersedes, run) = match commit {
            Commit::Create(commit) => {
                (commit.begins_at.0, commit.supersedes, commit.run.as_deref())
            }
            _ => (0, None, None),
        };
        let supersedes = supersedes.map_or(0, |old| self.stream(old));
        self.columns.c_begins.push(count(begins));
        self.columns.c_supersedes.push(supersedes);
        self.add_run(run);
    }

    fn add_executor(&mut self, executor: Option<&Executor>) {
        let number = |of: fn(&Executor) -> u64| executor.map_or(0, |executor| count(of(executor)));
        let mark = executor.map_or(0, |executor| nonce(executor.fence.nonce));
        self.columns.c_epoch.push(number(|e| e.fence.epoch.0));
        self.columns.c_nonce.push(mark);
        self.columns.c_seq.push(number(|e| e.seq.0));
        self.columns.c_seen.push(number(|e| e.seen.0));
    }

    fn add_records(&mut self, records: &[Record]) {
        let columns = &mut self.columns;
        let frame = Framed::of(records);
        columns.c_inbox.push(frame.inbox);
        columns.c_events.push(frame.events);
        columns.c_events_min.push(frame.events_min);
        columns.c_count.push(frame.count);
        let bytes = (!records.is_empty()).then_some(frame.bytes);
        columns.c_bytes.push(bytes);
    }

    fn add_lease(&mut self, change: LeaseChange) {
        let (kind, node, nonce) = match change {
            LeaseChange::Keep => (0, 0, 0),
            LeaseChange::Claim(by) => (1, node(by.node), nonce(by.nonce)),
            LeaseChange::Release => (2, 0, 0),
            LeaseChange::Revoke => (3, 0, 0),
            LeaseChange::Abandon => (4, 0, 0),
        };
        self.columns.c_lease.push(kind);
        self.columns.c_lease_node.push(node);
        self.columns.c_lease_nonce.push(nonce);
    }

    fn add_run(&mut self, run: Option<&RunRow>) {
        let columns = &mut self.columns;
        let Some(run) = run else {
            return columns.c_run.push(0);
        };
        columns.c_run.push(slot(columns.r_id.len()));
        columns.r_id.push(run.id.as_str().to_owned());
        columns.r_generation.push(run.generation.0.into());
        columns.r_workflow.push(run.workflow.as_str().to_owned());
        columns.r_version.push(run.version.into());
        columns.r_status.push(run.status.code().into());
        columns.r_created.push(millis(run.created_at));
        columns.r_updated.push(millis(run.updated_at));
        columns.r_tags.push(bytea_array(&run.tags));
    }

    fn add_guards(&mut self, index: usize, commit: &Commit) {
        for guard in commit.guards() {
            let (kind, number, row, value, at) = match guard {
                Guard::InboxSeen(seen) => (1, count(*seen), 0, None, None),
                Guard::EndsAt(end) => (2, count(end.0), 0, None, None),
                Guard::UnconsumedEventsBelow(limit) => (3, count(*limit), 0, None, None),
                Guard::RowPresent(key) => (4, 0, self.rows.read(commit, key), None, None),
                Guard::RowAbsent(key) => (5, 0, self.rows.read(commit, key), None, None),
                Guard::RowIs(expected) => {
                    let row = self.rows.read(commit, &expected.key());
                    let (bytes, at) = expected_contents(expected);
                    (6, 0, row, Some(bytes), at)
                }
                Guard::NotBefore(time) => (7, millis(*time), 0, None, None),
            };
            let columns = &mut self.columns;
            columns.g_commit.push(slot(index));
            columns.g_kind.push(kind);
            columns.g_number.push(number);
            columns.g_row.push(row);
            columns.g_value.push(value);
            columns.g_place.push(at);
        }
    }

    fn add_rows(&mut self, index: usize, commit: &Commit) {
        let dedup = match commit {
            Commit::Deliver(deliver) => deliver.dedup.as_ref().map_or(0, |id| {
                let row = StoredKey::of_id(Kind::Dedup, deliver.stream, id);
                self.rows.read_at(commit, row)
            }),
            _ => 0,
        };
        self.columns.c_dedup.push(dedup);
        for key in &commit.rows().delete {
            self.rows.delete(index, commit, key);
        }
        for row in &commit.rows().delete_exact {
            self.rows.delete_exact(index, commit, row);
        }
        for row in &commit.rows().put {
            self.rows.put(index, commit, row);
        }
    }

    fn finish(self) -> Columns {
        let mut columns = self.columns;
        let (slots, changes) = self.rows.finish(&columns);
        for listed in slots {
            let row = listed.row;
            let stream = (!listed.is_created).then_some(count(row.stream.0));
            columns.k_kind.push(row.kind.code());
            columns.k_stream.push(stream);
            columns.k_key.push(row.key);
            columns.k_due.push(row.due);
            columns.k_mode.push(listed.mode);
        }
        for (index, changes) in changes.into_iter().enumerate() {
            for change in changes {
                columns.o_commit.push(slot(index));
                columns.o_row.push(change.row);
                columns.o_put.push(change.is_put);
                columns.o_value.push(change.value);
                columns.o_place.push(change.place);
                columns.o_placing.push(change.placing);
            }
        }
        columns
    }
}

/// The code of the kind of a commit.
fn kind(commit: &Commit) -> i16 {
    match commit {
        Commit::Create(_) => 1,
        Commit::Append(_) => 2,
        Commit::Deliver(_) => 3,
        Commit::ChangeRows(_) => 4,
        Commit::Remove(_) => 5,
    }
}

/// The code of the change of the gate: 0 keeps it, 4 opens the gate of a run that was never
/// claimed, others set it.
fn gate(commit: &Commit) -> i16 {
    let set = |gate| match gate {
        Gate::Open => 1,
        Gate::Held => 2,
        Gate::NeedsSlot => 3,
    };
    match commit {
        Commit::Create(commit) => set(commit.gate),
        Commit::Append(commit) => commit.gate.map_or(0, set),
        Commit::Deliver(commit) => match commit.gate {
            GateChange::Keep => 0,
            GateChange::Set(gate) => set(gate),
            GateChange::OpenUnlessBegun => 4,
        },
        Commit::ChangeRows(_) | Commit::Remove(_) => 0,
    }
}

/// Whether the commit reads or changes the list row of an existing run.
fn reads_run(commit: &Commit) -> bool {
    match commit {
        // The run that it supersedes.
        Commit::Create(_) => true,
        Commit::Append(commit) => commit.status.is_some() || commit.ready.is_some(),
        Commit::Deliver(commit) => {
            let claims = matches!(commit.lease, InboxLease::Claim(_));
            claims || commit.status.is_some() || commit.ready.is_some()
        }
        Commit::ChangeRows(_) | Commit::Remove(_) => false,
    }
}

fn flags(commit: &Commit) -> i32 {
    let flag = |on: bool, bit: i32| if on { bit } else { 0 };
    let progress = commit.executor().is_some_and(|executor| executor.progress);
    let is_foreign = |record: &Record| record.body.origin() != Origin::Inbox;
    let of_user = commit
        .created()
        .is_some_and(|name| name.user_path().is_some());
    flag(progress, HAS_PROGRESS)
        | flag(commit.records().iter().any(is_foreign), HAS_FOREIGN)
        | flag(commit.only_deletes(), ONLY_DELETES)
        | flag(commit.closes(), CLOSES)
        | flag(commit.ready().is_some(), SAYS_READY)
        | flag(commit.ready() == Some(true), IS_READY)
        | flag(of_user, OF_USER)
}

/// An empty array of bytes.
pub(crate) const NO_TAGS: &str = "{}";

/// Encodes tags as an array of bytes, because they may contain the zero character, which texts of
/// PostgreSQL cannot.
pub(crate) fn bytea_array(texts: &[String]) -> String {
    let mut array = String::from("{");
    for (index, text) in texts.iter().enumerate() {
        array.push_str(if index == 0 { "\"\\\\x" } else { ",\"\\\\x" });
        for byte in text.bytes() {
            array.extend(char::from_digit(u32::from(byte >> 4), 16));
            array.extend(char::from_digit(u32::from(byte & 15), 16));
        }
        array.push('"');
    }
    array.push('}');
    array
}
