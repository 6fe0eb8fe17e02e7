//! The plain commits of a batch, and the arguments of the call that serves them.

use std::collections::HashSet;

use everstep_model::StreamNumber;
use everstep_store::{Commit, Guard, Outcome, status_once_taken};

use crate::number::{count, millis, node, nonce};
use crate::schema::rows::StoredKey;
use crate::write::columns::PlainColumns;
use crate::write::framed::Framed;
use crate::write::judged::{NO_TAGS, bytea_array};
use crate::write::plain::{BatchItem, PlainAppend, PlainCreate, label};
use crate::write::plain_answer::PlainAnswer;

/// The longest frame of a step: it goes into the head, which should stay on its page.
const STEP_BYTES_MAX: usize = 256;

/// The plain commits of a batch, each the only one that names its stream.
#[derive(Default)]
pub(crate) struct PlainBatch<'a> {
    appends: Vec<BatchItem<'a>>,
    creations: Vec<BatchItem<'a>>,
    columns: PlainColumns,
}

impl<'a> PlainBatch<'a> {
    /// Splits a batch into plain commits and others, which keep their order. Only a commit that
    /// shares its stream with no other one is plain.
    pub(crate) fn of(items: Vec<BatchItem<'a>>) -> (Self, Vec<BatchItem<'a>>) {
        let mut appends = Vec::with_capacity(items.len());
        let (mut creations, mut judged) = (Vec::new(), Vec::new());
        for item in items {
            if let Commit::Append(commit) = item.1
                && let Some(append) = PlainAppend::of(commit)
            {
                appends.push((item, append));
            } else if let Commit::Create(commit) = item.1
                && let Some(create) = PlainCreate::of(commit)
            {
                creations.push((item, create));
            } else {
                judged.push(item);
            }
        }
        let mut batch = Self::default();
        // The order in which the database reads their heads.
        appends.sort_by_key(|(_, append)| append.commit.stream);
        let alone = alone(&appends, &judged);
        for ((item, append), is_alone) in appends.into_iter().zip(alone) {
            if is_alone {
                batch.columns.append(item, &append);
                batch.appends.push(item);
            } else {
                judged.push(item);
            }
        }
        let alone = !creations.is_empty() && are_alone(&creations, &judged);
        for (item, create) in creations {
            if alone {
                batch.columns.creation(item, &create);
                batch.creations.push(item);
            } else {
                judged.push(item);
            }
        }
        batch.columns.leave_out_tags();
        judged.sort_by_key(|(at, _)| *at);
        (batch, judged)
    }

    pub(crate) fn commits(&self) -> impl Iterator<Item = &'a Commit> {
        let all = self.appends.iter().chain(&self.creations);
        all.map(|(_, commit)| *commit)
    }

    /// The arguments of the call; `None` if there are no plain commits.
    pub(crate) fn take_columns(&mut self) -> Option<PlainColumns> {
        let is_empty = self.appends.is_empty() && self.creations.is_empty();
        (!is_empty).then(|| std::mem::take(&mut self.columns))
    }

    /// The outcome of each commit; `None` if it must be judged.
    pub(crate) fn outcomes(self, answer: &PlainAnswer) -> Vec<(BatchItem<'a>, Option<Outcome>)> {
        let appends = self.appends.into_iter();
        let appends = appends.map(|item| (item, answer.of_append(item)));
        let creations = self.creations.into_iter().enumerate();
        let creations = creations.map(|(at, item)| (item, answer.of_creation(at, item.1)));
        appends.chain(creations).collect()
    }
}

/// For appends in the order of their streams: whether each is the only commit of its stream.
fn alone(appends: &[(BatchItem<'_>, PlainAppend<'_>)], judged: &[BatchItem<'_>]) -> Vec<bool> {
    let elsewhere: HashSet<StreamNumber> = judged.iter().flat_map(|(_, c)| c.streams()).collect();
    let chunks = appends.chunk_by(|(_, one), (_, next)| one.commit.stream == next.commit.stream);
    let alone = chunks.flat_map(|same_stream| {
        let is_alone = match same_stream {
            [(_, append)] => !elsewhere.contains(&append.commit.stream),
            _ => false,
        };
        std::iter::repeat_n(is_alone, same_stream.len())
    });
    alone.collect()
}

/// Whether creations may be applied before the rest of their batch. Their names must differ; no
/// other commit may create a stream, because numbers rise in the order of creations, or remove one,
/// which could free a name; and none may lock rows, which must be locked before names.
fn are_alone(creations: &[(BatchItem<'_>, PlainCreate<'_>)], judged: &[BatchItem<'_>]) -> bool {
    let mut names = HashSet::new();
    let mut creations = creations.iter();
    creations.all(|(_, create)| names.insert(&create.commit.name))
        && judged
            .iter()
            .all(|(_, commit)| commit.stream().is_some_and(|own| !locks_rows(commit, own)))
}

/// Whether a commit to this stream may lock rows: those that the lock of the stream does not
/// protect. A stream whose rows are only deleted may have been removed, and then there is no such
/// lock.
fn locks_rows(commit: &Commit, own: StreamNumber) -> bool {
    let guarded = commit.guards().iter().filter_map(|guard| match guard {
        Guard::RowPresent(key) | Guard::RowAbsent(key) => Some(key.clone()),
        Guard::RowIs(row) => Some(row.key()),
        Guard::InboxSeen(_)
        | Guard::EndsAt(_)
        | Guard::UnconsumedEventsBelow(_)
        | Guard::NotBefore(_) => None,
    });
    let named = guarded.chain(commit.rows().delete.iter().cloned());
    let mut named = named.map(|key| StoredKey::of(&key));
    // Rows that are put become the stream's own, unless they are shared.
    let mut put = commit
        .rows()
        .put
        .iter()
        .map(|row| StoredKey::of(&row.key()));
    commit.only_deletes()
        || !commit.rows().delete_exact.is_empty()
        || named.any(|key| key.kind.is_shared() || key.stream != own)
        || put.any(|key| key.kind.is_shared())
}

impl PlainColumns {
    fn append(&mut self, item: BatchItem<'_>, append: &PlainAppend<'_>) {
        let frame = Framed::of(&append.commit.records);
        let has_events = frame.events != 0 || frame.events_min != 0;
        let is_own = frame.inbox == 0 && !has_events;
        let continues = append.inbox_seen.is_none() && append.commit.status.is_none();
        let is_short = frame.bytes.len() <= STEP_BYTES_MAX;
        if is_own && is_short && continues && append.commit.executor.progress {
            self.step(item, append, frame);
        } else {
            self.longer_append(item, append, frame);
        }
    }

    fn step(&mut self, item: BatchItem<'_>, append: &PlainAppend<'_>, frame: Framed) {
        let executor = &append.commit.executor;
        self.p_number.push(label(item));
        self.p_stream.push(count(append.commit.stream.0));
        self.p_epoch.push(count(executor.fence.epoch.0));
        self.p_nonce.push(nonce(executor.fence.nonce));
        self.p_seq.push(count(executor.seq.0));
        self.p_seen.push(count(executor.seen.0));
        self.p_count.push(frame.count);
        self.p_bytes.push(frame.bytes);
    }

    fn longer_append(&mut self, item: BatchItem<'_>, append: &PlainAppend<'_>, frame: Framed) {
        let commit = append.commit;
        let executor = &commit.executor;
        self.t_number.push(label(item));
        self.t_stream.push(count(append.commit.stream.0));
        self.t_epoch.push(count(executor.fence.epoch.0));
        self.t_nonce.push(nonce(executor.fence.nonce));
        self.t_seq.push(count(executor.seq.0));
        self.t_seen.push(count(executor.seen.0));
        self.t_bytes.push(frame.bytes);
        self.t_count.push(frame.count);
        self.t_inbox.push(frame.inbox);
        self.t_events.push(frame.events);
        self.t_events_min.push(frame.events_min);
        self.t_progress.push(executor.progress);
        self.t_inbox_seen.push(append.inbox_seen.map_or(-1, count));
        self.t_leaves.push(append.leaves);
        self.t_closes.push(commit.close);
        let status = commit.status.map_or(0, |status| status.code().into());
        self.t_status.push(status);
        self.t_now.push(millis(commit.now));
    }

    fn creation(&mut self, item: BatchItem<'_>, create: &PlainCreate<'_>) {
        let commit = create.commit;
        let frame = Framed::of(&commit.records);
        let holder = commit.claim.map(|by| (node(by.node), nonce(by.nonce)));
        self.b_number.push(label(item));
        self.b_name.push(commit.name.as_str().as_bytes().to_vec());
        self.b_bytes.push(frame.bytes);
        self.b_count.push(frame.count);
        self.b_inbox.push(frame.inbox);
        self.b_events.push(frame.events.max(frame.events_min));
        self.b_ready.push(commit.ready);
        self.b_node.push(holder.map(|(node, _)| node));
        self.b_nonce.push(holder.map(|(_, nonce)| nonce));
        let run = create.run;
        self.b_id.push(run.id.as_str().to_owned());
        self.b_workflow.push(run.workflow.as_str().to_owned());
        self.b_version.push(run.version.into());
        let status = match holder {
            Some(_) => status_once_taken(run.status),
            None => run.status,
        };
        let updated = if status == run.status {
            run.updated_at
        } else {
            commit.now
        };
        self.b_status.push(status.code().into());
        self.b_created.push(millis(run.created_at));
        self.b_updated.push(millis(updated));
        self.b_tags.push(bytea_array(&run.tags));
    }

    /// Clears the tags if no run has any, so that the database skips them.
    fn leave_out_tags(&mut self) {
        if self.b_tags.iter().all(|tags| tags == NO_TAGS) {
            self.b_tags.clear();
        }
    }
}
