//! The plain commits of a batch, and the arguments of the call that serves them.

use std::collections::HashSet;

use everstep_model::StreamNumber;
use everstep_store::{Commit, Guard, Outcome, status_once_taken};

use crate::number::{count, millis, node, nonce};
use crate::schema::row_place::RowPlace;
use crate::write::columns::PlainColumns;
use crate::write::framed::Framed;
use crate::write::judged::{NO_TAGS, bytea_array};
use crate::write::placed::{Placed, label};
use crate::write::plain::{PlainAppend, PlainCreate};
use crate::write::plain_answer::PlainAnswer;

/// A plain commit.
enum Plain<'a> {
    Append(PlainAppend<'a>),
    Create(PlainCreate<'a>),
}

impl<'a> Plain<'a> {
    fn of(commit: &'a Commit) -> Option<Self> {
        match commit {
            Commit::Append(commit) => PlainAppend::of(commit).map(Self::Append),
            Commit::Create(commit) => PlainCreate::of(commit).map(Self::Create),
            Commit::Deliver(_) | Commit::ChangeRows(_) | Commit::Remove(_) => None,
        }
    }
}

/// The longest frame of a step: it goes into the head, which should stay on its page.
const STEP_BYTES_MAX: usize = 256;

/// The plain commits of a batch, each the only one that names its stream.
#[derive(Default)]
pub(crate) struct PlainBatch<'a> {
    /// Of executors.
    appends: Vec<Placed<'a>>,
    births: Vec<Placed<'a>>,
    columns: PlainColumns,
}

impl<'a> PlainBatch<'a> {
    /// Takes the plain ones out of a batch. The others keep their order: only what shares its
    /// stream with no other commit may leave it.
    pub(crate) fn of(placed: Vec<Placed<'a>>) -> (Self, Vec<Placed<'a>>) {
        let mut appends = Vec::with_capacity(placed.len());
        let (mut births, mut judged) = (Vec::new(), Vec::new());
        for (at, commit) in placed {
            match Plain::of(commit) {
                Some(Plain::Append(append)) => appends.push(((at, commit), append)),
                Some(Plain::Create(create)) => births.push(((at, commit), create)),
                None => judged.push((at, commit)),
            }
        }
        let mut batch = Self::default();
        // The order in which the database meets their heads.
        appends.sort_by_key(|(_, append)| append.commit.stream);
        let alone = alone(&appends, &judged);
        for ((placed, append), is_alone) in appends.into_iter().zip(alone) {
            if is_alone {
                batch.columns.append(placed, &append);
                batch.appends.push(placed);
            } else {
                judged.push(placed);
            }
        }
        let alone = !births.is_empty() && are_alone(&births, &judged);
        for (placed, create) in births {
            if alone {
                batch.columns.birth(placed, &create);
                batch.births.push(placed);
            } else {
                judged.push(placed);
            }
        }
        batch.columns.leave_out_tags();
        judged.sort_by_key(|(at, _)| *at);
        (batch, judged)
    }

    pub(crate) fn commits(&self) -> impl Iterator<Item = &'a Commit> {
        let all = self.appends.iter().chain(&self.births);
        all.map(|(_, commit)| *commit)
    }

    /// The arguments for its call; none if there are no such commits.
    pub(crate) fn take_columns(&mut self) -> Option<PlainColumns> {
        let is_empty = self.appends.is_empty() && self.births.is_empty();
        (!is_empty).then(|| std::mem::take(&mut self.columns))
    }

    /// What became of each; none of those that are left to be judged.
    pub(crate) fn outcomes(self, answer: &PlainAnswer) -> Vec<(Placed<'a>, Option<Outcome>)> {
        let appends = self.appends.into_iter();
        let appends = appends.map(|placed| (placed, answer.of_append(placed)));
        let births = self.births.into_iter().enumerate();
        let births = births.map(|(place, placed)| (placed, answer.of_birth(place, placed.1)));
        appends.chain(births).collect()
    }
}

/// Of appends in the order of their streams, which are the only ones to name them.
fn alone(appends: &[(Placed<'_>, PlainAppend<'_>)], judged: &[Placed<'_>]) -> Vec<bool> {
    let elsewhere: HashSet<StreamNumber> = judged.iter().flat_map(|(_, c)| c.streams()).collect();
    let stream = |place: usize| appends.get(place).map(|(_, append)| append.commit.stream);
    let is_alone = |place: usize| {
        let this = stream(place);
        let is_repeated = stream(place + 1) == this
            || place
                .checked_sub(1)
                .is_some_and(|before| stream(before) == this);
        !is_repeated && this.is_some_and(|this| !elsewhere.contains(&this))
    };
    (0..appends.len()).map(is_alone).collect()
}

/// Whether births may leave the order of their batch: each has another name, no other stream is
/// created, because numbers rise in the order of creations, and none goes whose name they could
/// take. Nor are rows locked that several streams share, which must come before names.
fn are_alone(births: &[(Placed<'_>, PlainCreate<'_>)], judged: &[Placed<'_>]) -> bool {
    let mut names = HashSet::new();
    let mut births = births.iter();
    births.all(|(_, create)| names.insert(&create.commit.name))
        && judged
            .iter()
            .all(|(_, commit)| commit.stream().is_some_and(|own| !locks_rows(commit, own)))
}

/// Whether a commit to this stream looks at, or writes, rows that its lock does not protect.
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
    let mut named = named.map(|key| RowPlace::of(&key));
    // Rows that are put become the stream's own, unless they are shared.
    let mut put = commit.rows().put.iter().map(|row| RowPlace::of(&row.key()));
    !commit.rows().delete_exact.is_empty()
        || named.any(|place| place.kind.is_shared() || place.stream != own)
        || put.any(|place| place.kind.is_shared())
}

impl PlainColumns {
    fn append(&mut self, placed: Placed<'_>, append: &PlainAppend<'_>) {
        let frame = Framed::of(&append.commit.records);
        let has_events = frame.events != 0 || frame.events_min != 0;
        let is_own = frame.inbox == 0 && !has_events;
        let goes_on = append.inbox_seen.is_none() && append.commit.status.is_none();
        let is_short = frame.bytes.len() <= STEP_BYTES_MAX;
        if is_own && is_short && goes_on && append.commit.executor.progress {
            self.step(placed, append, frame);
        } else {
            self.turn(placed, append, frame);
        }
    }

    fn step(&mut self, placed: Placed<'_>, append: &PlainAppend<'_>, frame: Framed) {
        let executor = &append.commit.executor;
        self.p_number.push(label(placed));
        self.p_stream.push(count(append.commit.stream.0));
        self.p_epoch.push(count(executor.fence.epoch.0));
        self.p_nonce.push(nonce(executor.fence.nonce));
        self.p_seq.push(count(executor.seq.0));
        self.p_seen.push(count(executor.seen.0));
        self.p_count.push(frame.count);
        self.p_bytes.push(frame.bytes);
    }

    fn turn(&mut self, placed: Placed<'_>, append: &PlainAppend<'_>, frame: Framed) {
        let commit = append.commit;
        let executor = &commit.executor;
        self.t_number.push(label(placed));
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

    fn birth(&mut self, placed: Placed<'_>, create: &PlainCreate<'_>) {
        let commit = create.commit;
        let frame = Framed::of(&commit.records);
        let holder = commit.claim.map(|by| (node(by.node), nonce(by.nonce)));
        self.b_number.push(label(placed));
        self.b_name.push(commit.name.as_str().as_bytes().to_vec());
        self.b_bytes.push(frame.bytes);
        self.b_count.push(frame.count);
        self.b_inbox.push(frame.inbox);
        self.b_events.push(frame.events.max(frame.events_min));
        self.b_ready.push(commit.ready);
        self.b_node.push(holder.map(|(who, _)| who));
        self.b_nonce.push(holder.map(|(_, mark)| mark));
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

    /// Leaves tags out if there are none, so that nothing is done about them.
    fn leave_out_tags(&mut self) {
        if self.b_tags.iter().all(|tags| tags == NO_TAGS) {
            self.b_tags.clear();
        }
    }
}
