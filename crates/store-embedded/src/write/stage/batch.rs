//! The staged changes of a batch.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use everstep_model::{RecordNumber, StreamNumber, Term, Timestamp};
use everstep_store::{Commit, Head, Outcome, Refusal, Row, RowKey, StoreError};

use crate::encoding::keys;
use crate::encoding::values;
use crate::read::effects::EffectKey;
use crate::sets::{KnownPages, Pages};
use crate::state::cache::{ByNumber, HeadCache, Published};
use crate::state::inner::Inner;
use crate::state::leases::Leases;
use crate::storage::tables::Tables;
use crate::storage::view::View;

/// What a batch changes, on top of what is durable.
// Large type: one field for each table that a batch can change.
pub(crate) struct Stage<'a> {
    tables: &'a Tables,
    cache: &'a HeadCache,
    pub(super) leases: &'a Leases,
    pub(super) known_pages: &'a KnownPages,
    pub(super) now: Timestamp,
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
    /// Streams that could not be read: their later commits must not overtake the one that was
    /// refused for it.
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
    /// The change of the head cache. Closed streams are rarely read again, so they leave it.
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

    pub(super) fn view(&self) -> &View<'a> {
        self.view.get_or_init(|| View::new(self.tables))
    }

    /// Judges one commit and stages what it does. A stream that cannot be read refuses the commit;
    /// only an error that ends all writing is returned as such.
    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<Outcome, StoreError> {
        // A creation that fails leaves its number to the next one, and a removal is judged on its
        // own.
        let number = commit.stream().map(|stream| stream.0);
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

    /// Stages nothing if it fails.
    fn try_commit(&mut self, commit: &Commit) -> Result<Outcome, StoreError> {
        match commit {
            Commit::Create(commit) => self.create(commit),
            Commit::Append(commit) => self.append(commit),
            Commit::Deliver(commit) => self.deliver(commit),
            Commit::ChangeRows(commit) => self.change_rows(commit),
            Commit::Remove(commit) => self.remove(commit),
        }
    }

    pub(super) fn head(&mut self, number: StreamNumber) -> Result<Option<Arc<Head>>, StoreError> {
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

    pub(super) fn stage_row(&mut self, key: &RowKey, row: Option<&Row>) {
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
}
