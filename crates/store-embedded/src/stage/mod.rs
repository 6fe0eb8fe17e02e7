//! A batch being judged: what its commits have changed so far, on top of what is durable.
//!
//! Nothing here is seen by anybody else. If the batch cannot be written, the stage is dropped and nothing happened.

mod overlay;
mod removal;
mod sets;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use everstep_model::{Frame, RecordNumber, RecordRange, StreamNumber, Term, Timestamp};
use everstep_store::{
    Commit, Head, Outcome, Refusal, Row, RowKey, StoreError, Target, Verdict, judge,
    judge_superseded,
};

use crate::cache::{ByNumber, HeadCache, Published};
use crate::effects::EffectKey;
use crate::keys;
use crate::leases::Leases;
use crate::sets::{KnownPages, Pages};
use crate::store::Inner;
use crate::tables::Tables;
use crate::values;
use crate::view::View;
use overlay::World;

pub(crate) struct Stage<'a> {
    tables: &'a Tables,
    cache: &'a HeadCache,
    leases: &'a Leases,
    known_pages: &'a KnownPages,
    now: Timestamp,
    /// Opened by the first commit that has to read.
    view: OnceCell<View<'a>>,
    pub(crate) next_stream: StreamNumber,
    /// The term of new streams.
    pub(crate) term: Term,
    pub(crate) heads: ByNumber<Staged>,
    /// Frames to put, or to take away, by stream and first record.
    pub(crate) frames: BTreeMap<(StreamNumber, RecordNumber), Option<Vec<u8>>>,
    /// Rows to put, or to take away.
    pub(crate) lookups: HashMap<Vec<u8>, Option<Vec<u8>>>,
    pub(crate) timers: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    pub(crate) earliest_timer: Option<Timestamp>,
    /// Streams that could not be read: their later commits must not overtake the one that was refused for it.
    unreadable: ByNumber<StoreError>,
    /// Effects that appear, or go.
    pub(crate) effects: HashMap<EffectKey, bool>,
    /// Pages of the sets that streams come into, or leave.
    pub(crate) pages: Pages,
}

/// The head of a stream that the batch is about.
pub(crate) struct Staged {
    /// As it is durable; none if the batch creates it.
    pub(crate) before: Option<Arc<Head>>,
    /// As the batch leaves it.
    pub(crate) head: Arc<Head>,
    /// Whether its row must be written: the last frame does not tell all that changed.
    pub(crate) row_changed: bool,
    /// Whether the batch leaves nothing of it.
    pub(crate) is_removed: bool,
}

impl Staged {
    /// What the cache is told: few ask for a stream that takes no more records.
    pub(crate) fn into_published(self) -> Published {
        if self.is_removed || self.head.closed {
            Published::Forget(self.head.number)
        } else {
            Published::Keep(self.head)
        }
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(inner: &'a Inner, (next_stream, term): (StreamNumber, Term)) -> Self {
        Self {
            tables: &inner.tables,
            cache: &inner.cache,
            leases: &inner.leases,
            known_pages: &inner.pages,
            now: inner.clock.now(),
            view: OnceCell::new(),
            next_stream,
            term,
            heads: ByNumber::default(),
            frames: BTreeMap::new(),
            lookups: HashMap::new(),
            timers: BTreeMap::new(),
            earliest_timer: None,
            unreadable: ByNumber::default(),
            effects: HashMap::new(),
            pages: Pages::new(),
        }
    }

    fn view(&self) -> &View<'a> {
        self.view.get_or_init(|| View::new(self.tables))
    }

    /// Judges one commit and stages what it does. What cannot be read is the commit's own outcome; only what ends all
    /// writing is an error.
    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<Outcome, StoreError> {
        let number = match commit.target {
            Target::Stream(number) => Some(number.0),
            // The number that a creation would have got goes to the next one.
            Target::Create(_) | Target::Remove(_) => None,
        };
        if let Some(error) = number.and_then(|number| self.unreadable.get(&number)) {
            return Ok(Outcome::Refused(Refusal::Unreadable(error.clone())));
        }
        self.try_commit(commit).or_else(|error| {
            if let StoreError::Poisoned { .. } = error {
                return Err(error);
            }
            if let Some(number) = number {
                self.unreadable.insert(number, error.clone());
            }
            Ok(Outcome::Refused(Refusal::Unreadable(error)))
        })
    }

    /// If it fails, nothing is staged.
    fn try_commit(&mut self, commit: &Commit) -> Result<Outcome, StoreError> {
        if let Target::Remove(streams) = &commit.target {
            return self.remove(streams, commit);
        }
        if let Some(old) = commit.supersedes {
            let old = self.head(old)?;
            if let Some(refusal) = judge_superseded(old.as_deref()) {
                return Ok(Outcome::Refused(refusal));
            }
        }
        let head = match self.target(commit)? {
            Ok(head) => head,
            Err(Refusal::NoStream) if commit.only_deletes() => {
                for key in &commit.delete {
                    self.stage_row(key, None);
                }
                return Ok(Outcome::of_gone(commit));
            }
            Err(refusal) => return Ok(Outcome::Refused(refusal)),
        };
        let stream = head.number;
        let world = World {
            stage: self,
            stream,
            failure: RefCell::new(None),
        };
        let verdict = judge(&head, commit, &world);
        if let Some(failure) = world.failure.into_inner() {
            return Err(failure);
        }
        Ok(match verdict {
            Verdict::Apply {
                head: after,
                first,
                taken,
            } => {
                let before = self.landed_before(stream, commit, first)?;
                self.apply(&head, *after, commit, first)?;
                Outcome::Committed {
                    stream,
                    first,
                    before,
                    taken,
                }
            }
            Verdict::Duplicate { first } => Outcome::Duplicate {
                stream,
                first,
                before: self.landed_before(stream, commit, first)?,
            },
            Verdict::InboxGrew { seen } => Outcome::Refused(Refusal::InboxGrew {
                missed: self.entries(stream, seen, head.next)?,
            }),
            Verdict::Refuse(refusal) => Outcome::Refused(refusal),
        })
    }

    fn target(&mut self, commit: &Commit) -> Result<Result<Arc<Head>, Refusal>, StoreError> {
        match &commit.target {
            Target::Create(name) => {
                let key = keys::name(name.as_str());
                if let Some(bytes) = self.lookup(&key)? {
                    let number = values::decode_number(&bytes);
                    let number =
                        number.map_err(|e| self.view().unreadable("a stream's name", e))?;
                    return Ok(Err(Refusal::Exists(StreamNumber(number))));
                }
                let mut head = Head::new(self.next_stream, name.clone(), self.term);
                head.next = commit.begins_at;
                Ok(Ok(Arc::new(head)))
            }
            Target::Stream(number) => Ok(self.head(*number)?.ok_or(Refusal::NoStream)),
            Target::Remove(_) => Ok(Err(Refusal::NoStream)),
        }
    }

    fn head(&mut self, number: StreamNumber) -> Result<Option<Arc<Head>>, StoreError> {
        if let Some(staged) = self.heads.get(&number.0) {
            return Ok((!staged.is_removed).then(|| staged.head.clone()));
        }
        let head = match self.cache.get(number) {
            Some(head) => head,
            None => match self.view().head(number)? {
                Some(head) => Arc::new(head),
                None => return Ok(None),
            },
        };
        let staged = Staged {
            before: Some(head.clone()),
            head: head.clone(),
            row_changed: false,
            is_removed: false,
        };
        self.heads.insert(number.0, staged);
        Ok(Some(head))
    }

    fn apply(
        &mut self,
        before: &Head,
        after: Head,
        commit: &Commit,
        first: RecordNumber,
    ) -> Result<(), StoreError> {
        let stream = after.number;
        // First, because reading may fail.
        let moves = self.plan_moves(before, Some(&after))?;
        let superseded = commit.supersedes.map(|old| self.plan_superseding(old));
        let superseded = superseded.transpose()?;
        self.drop_records(stream, &commit.drop, before.next)?;
        for key in &commit.delete {
            self.stage_row(key, None);
        }
        for row in &commit.put {
            let row = row.clone().placed(stream, after.next);
            self.stage_row(&row.key(), Some(&row));
        }
        if !commit.records.is_empty() {
            let frame = Frame::encode(&after.frame, &commit.records);
            self.frames.insert((stream, first), Some(frame));
        }
        if let Some(id) = &commit.dedup {
            let place = values::encode_number(first.0);
            self.lookups.insert(keys::dedup(stream, id), Some(place));
        }
        let is_new = stream == self.next_stream;
        if is_new {
            let number = values::encode_number(stream.0);
            self.lookups
                .insert(keys::name(after.name.as_str()), Some(number));
            self.next_stream = stream.next();
        }
        self.make_moves(moves);
        if let Some(superseded) = superseded {
            self.supersede(superseded);
        }
        let row_changed = is_new || needs_row(before, &after, commit);
        let after = Arc::new(after);
        let staged = self.heads.entry(stream.0).or_insert_with(|| Staged {
            before: None,
            head: after.clone(),
            row_changed,
            is_removed: false,
        });
        staged.head = after;
        staged.row_changed |= row_changed;
        Ok(())
    }

    fn stage_row(&mut self, key: &RowKey, row: Option<&Row>) {
        if let RowKey::Outbox(stream, effect) = key {
            self.effects
                .insert((*stream, effect.clone()), row.is_some());
        }
        if let RowKey::Timer(timer) = key {
            let (key, value) = keys::timer(timer);
            if row.is_some() {
                let earliest = self
                    .earliest_timer
                    .map_or(timer.due, |due| due.min(timer.due));
                self.earliest_timer = Some(earliest);
            }
            self.timers.insert(key, row.map(|_| value));
        } else if let Some(key) = keys::lookup(key) {
            self.lookups.insert(key, row.map(values::encode_row));
        }
    }

    fn drop_records(
        &mut self,
        stream: StreamNumber,
        ranges: &[RecordRange],
        end: RecordNumber,
    ) -> Result<(), StoreError> {
        if ranges.is_empty() {
            return Ok(());
        }
        let holes = self.holes(stream)?.with(ranges, end);
        let of_stream = (stream, RecordNumber(0))..=(stream, RecordNumber(u64::MAX));
        let staged = self.frames.range(of_stream.clone());
        let staged: Vec<_> = staged.map(|(key, frame)| (*key, frame.clone())).collect();
        let dropped = ranges
            .iter()
            .try_for_each(|range| self.drop_range(stream, *range, end));
        if dropped.is_err() {
            self.frames.retain(|key, _| !of_stream.contains(key));
            self.frames.extend(staged);
        } else {
            let holes = values::encode_holes(&holes);
            self.lookups.insert(keys::holes(stream), Some(holes));
        }
        dropped
    }

    fn drop_range(
        &mut self,
        stream: StreamNumber,
        range: RecordRange,
        end: RecordNumber,
    ) -> Result<(), StoreError> {
        for frame in self.stored_frames(stream, range.first, range.last, end)? {
            let left = frame.without(range);
            let Some(left) = left.map_err(|e| self.view().bad_frame(stream, &e))? else {
                continue;
            };
            self.frames.insert((stream, frame.first), None);
            for piece in left {
                self.frames
                    .insert((stream, piece.first), Some(piece.bytes.into()));
            }
        }
        Ok(())
    }
}

/// Whether the head's row must be written: all but the counts lives there, and those too if no frame carries them.
fn needs_row(before: &Head, after: &Head, commit: &Commit) -> bool {
    before.epoch != after.epoch
        || before.owner != after.owner
        || before.takeovers != after.takeovers
        || before.ready != after.ready
        || before.closed != after.closed
        || before.run != after.run
        || (commit.records.is_empty() && before.frame != after.frame)
        || (commit.records.is_empty() && !commit.drop.is_empty())
}
