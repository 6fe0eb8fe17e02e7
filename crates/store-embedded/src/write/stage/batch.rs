//! The staged changes of a batch.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use everstep_model::{RecordNumber, StreamNumber, Term, Timestamp};
use everstep_store::{Commit, Head, Outcome, Refusal, Row, RowKey, StoreError};

use crate::encoding::keys;
use crate::encoding::values;
use crate::read::effects::EffectKey;
use crate::sets::{PageCache, Pages};
use crate::state::cache::{ByNumber, HeadCache};
use crate::state::inner::Inner;
use crate::state::leases::Leases;
use crate::storage::tables::Tables;
use crate::storage::view::View;

/// The changes of a batch, on top of the durable data.
// Large type: one field for each table that a batch can change.
pub(crate) struct Stage<'a> {
    tables: &'a Tables,
    cache: &'a HeadCache,
    pub(super) leases: &'a Leases,
    pub(super) page_cache: &'a PageCache,
    pub(super) now: Timestamp,
    /// Opened by the first commit that reads.
    view: OnceCell<View<'a>>,
    pub(crate) next_stream: StreamNumber,
    /// The term of new streams.
    pub(crate) term: Term,
    pub(crate) heads: ByNumber<Staged>,
    /// Frames by stream and first record; `None` deletes one.
    pub(crate) frames: BTreeMap<(StreamNumber, RecordNumber), Option<Vec<u8>>>,
    /// Rows of the table of lookups; `None` deletes one.
    pub(crate) lookups: HashMap<Vec<u8>, Option<Vec<u8>>>,
    pub(crate) timers: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    pub(crate) earliest_timer: Option<Timestamp>,
    /// Streams that could not be read. Their later commits are refused as well, to preserve the
    /// order.
    unreadable: ByNumber<StoreError>,
    /// Effects that are added (`true`) or deleted.
    pub(crate) effects: HashMap<EffectKey, bool>,
    /// Pages of the sets that streams enter or leave.
    pub(crate) pages: Pages,
}

/// The head of a stream that the batch uses.
pub(crate) struct Staged {
    /// The durable head; `None` if the batch creates the stream.
    pub(crate) before: Option<Arc<Head>>,
    /// The head after the batch.
    pub(crate) head: Arc<Head>,
    /// Whether the row of the head must be written, because the last frame does not contain all
    /// changes.
    pub(crate) row_changed: bool,
    pub(crate) is_removed: bool,
}

impl Staged {
    /// Converts to a change of the head cache. Closed streams leave it, because they are rarely
    /// read again.
    pub(crate) fn into_published(self) -> (StreamNumber, Option<Arc<Head>>) {
        let is_cached = !self.is_removed && !self.head.closed;
        (self.head.number, is_cached.then_some(self.head))
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(inner: &'a Inner, (next_stream, term): (StreamNumber, Term)) -> Self {
        Self {
            tables: &inner.tables,
            cache: &inner.cache,
            leases: &inner.leases,
            page_cache: &inner.pages,
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

    /// Judges one commit and stages its changes, or nothing if it is refused. A stream that cannot
    /// be read refuses the commit; only an error that ends all writing is returned as such.
    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<Outcome, StoreError> {
        // `None` for creations and removals: a failed creation leaves its number to the next one,
        // and a removal is judged on its own.
        let stream = commit.stream();
        if let Some(error) = stream.and_then(|stream| self.unreadable.get(&stream)) {
            return Ok(Outcome::Refused(Refusal::Unreadable(error.clone())));
        }
        let result = match commit {
            Commit::Create(create) => self.create(create, commit),
            Commit::Append(append) => self.append(append, commit),
            Commit::Deliver(deliver) => self.deliver(deliver, commit),
            Commit::ChangeRows(commit) => self.change_rows(commit),
            Commit::Remove(commit) => self.remove(commit),
        };
        match (&result, stream) {
            (Err(Refusal::Unreadable(error @ StoreError::Poisoned { .. })), _) => {
                return Err(error.clone());
            }
            (Err(Refusal::Unreadable(error)), Some(stream)) => {
                self.unreadable.insert(stream, error.clone());
            }
            _ => {}
        }
        Ok(result.unwrap_or_else(Outcome::Refused))
    }

    pub(super) fn head(&mut self, number: StreamNumber) -> Result<Option<Arc<Head>>, StoreError> {
        if let Some(staged) = self.heads.get(&number) {
            return Ok((!staged.is_removed).then(|| staged.head.clone()));
        }
        let head = match self.cache.get(&number) {
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
        self.heads.insert(number, staged);
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
                let earliest = self.earliest_timer.unwrap_or(timer.due);
                self.earliest_timer = Some(earliest.min(timer.due));
            }
            self.timers.insert(key, row.map(|_| value));
        } else if let Some(key) = keys::lookup(key) {
            self.lookups.insert(key, row.map(values::encode_row));
        }
    }
}
