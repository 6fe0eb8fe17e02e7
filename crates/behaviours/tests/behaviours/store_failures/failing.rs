//! A store that does what another does, until it is told to fail: as a whole, for single runs, or by losing answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use everstep_model::{Generation, NodeId, RunId, StreamName, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Refusal, Row, RowKey, RowRange, SharedRow, Store, StoreError,
    StreamRef, TimerQuery, TimerRow,
};

/// What cannot be read of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Nothing can.
    Head,
    /// Its journal.
    Journal,
    /// Something that only commits need.
    Row,
}

pub(super) struct Failing<S> {
    inner: S,
    commits: Mutex<Option<StoreError>>,
    reads: Mutex<Option<StoreError>>,
    damaged: Mutex<BTreeMap<StreamNumber, Damage>>,
    /// The state of the dice; none loses nothing.
    losing: Mutex<Option<u64>>,
    refused: AtomicU64,
}

impl<S: Store> Failing<S> {
    pub(super) fn new(inner: S) -> Arc<Self> {
        Arc::new(Self {
            inner,
            commits: Mutex::default(),
            reads: Mutex::default(),
            damaged: Mutex::default(),
            losing: Mutex::default(),
            refused: AtomicU64::new(0),
        })
    }

    pub(super) fn fail_commits(&self, error: Option<StoreError>) {
        *self.commits.lock().unwrap() = error;
    }

    pub(super) fn fail_reads(&self, error: Option<StoreError>) {
        *self.reads.lock().unwrap() = error;
    }

    pub(super) async fn damage(&self, run: &RunId, damage: Damage) {
        let name = StreamName::of_run(run, Generation::FIRST);
        let head = self.inner.head(StreamRef::Name(name)).await.unwrap();
        let number = head.unwrap().number;
        self.damaged.lock().unwrap().insert(number, damage);
    }

    pub(super) fn mend(&self) {
        self.damaged.lock().unwrap().clear();
    }

    /// How often something was asked of a damaged run.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::SeqCst)
    }

    /// From now on, half of all batches take effect and are answered with an error.
    pub(super) fn lose_answers(&self, seed: u64) {
        *self.losing.lock().unwrap() = Some(seed);
    }

    fn loses(&self) -> bool {
        let mut losing = self.losing.lock().unwrap();
        let Some(dice) = losing.as_mut() else {
            return false;
        };
        *dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *dice >> 63 == 0
    }

    fn check(&self, stream: StreamNumber, fatal: &[Damage]) -> Result<(), StoreError> {
        match self.damaged.lock().unwrap().get(&stream) {
            Some(damage) if fatal.contains(damage) => {}
            _ => return Ok(()),
        }
        self.refused.fetch_add(1, Ordering::SeqCst);
        Err(StoreError::Corrupt {
            place: format!("stream {stream}"),
            detail: "the test says so".to_owned(),
        })
    }

    fn check_commit(&self, commit: &Commit) -> Result<(), StoreError> {
        match commit.stream() {
            None => Ok(()),
            Some(stream) => self.check(stream, &[Damage::Head, Damage::Row]),
        }
    }

    async fn commit_sound(&self, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        let checks: Vec<_> = batch
            .iter()
            .map(|commit| self.check_commit(commit))
            .collect();
        let sound = batch.iter().zip(&checks);
        let sound = sound.filter(|(_, check)| check.is_ok());
        let sound: Vec<_> = sound.map(|(commit, _)| commit.clone()).collect();
        let mut outcomes = self.inner.commit(&sound).await?.into_iter();
        let merged = checks.into_iter().filter_map(|check| match check {
            Ok(()) => outcomes.next(),
            Err(error) => Some(Outcome::Refused(Refusal::Unreadable(error))),
        });
        Ok(merged.collect())
    }
}

fn failed(errors: &Mutex<Option<StoreError>>) -> Result<(), StoreError> {
    errors.lock().unwrap().clone().map_or(Ok(()), Err)
}

impl<S: Store> Store for Failing<S> {
    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        Box::pin(async move {
            failed(&self.commits)?;
            let outcomes = self.commit_sound(batch).await?;
            if self.loses() {
                let detail = "the answer got lost".to_owned();
                return Err(StoreError::Unavailable { detail });
            }
            Ok(outcomes)
        })
    }

    fn head(&self, stream: StreamRef) -> BoxFuture<'_, Result<Option<Head>, StoreError>> {
        Box::pin(async move {
            let head = self.inner.head(stream).await?;
            if let Some(head) = &head {
                self.check(head.number, &[Damage::Head])?;
            }
            Ok(head)
        })
    }

    fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<OutboxRow>, StoreError>> {
        Box::pin(async move {
            failed(&self.reads)?;
            self.inner.outbox(after, limit).await
        })
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        Box::pin(async move {
            failed(&self.reads)?;
            self.check(request.stream, &[Damage::Head, Damage::Journal])?;
            self.inner.read(request).await
        })
    }

    fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<ReadyRun>, StoreError>> {
        Box::pin(async move {
            failed(&self.reads)?;
            let mut runs = self.inner.ready(after, limit).await?;
            runs.retain(|run| self.check(run.stream, &[Damage::Head]).is_ok());
            Ok(runs)
        })
    }

    fn list(&self, query: ListQuery) -> BoxFuture<'_, Result<ListPage, StoreError>> {
        self.inner.list(query)
    }

    fn count(&self, query: ListQuery) -> BoxFuture<'_, Result<Count, StoreError>> {
        self.inner.count(query)
    }

    fn timers(&self, query: TimerQuery) -> BoxFuture<'_, Result<Vec<TimerRow>, StoreError>> {
        self.inner.timers(query)
    }

    fn rows(&self, range: RowRange) -> BoxFuture<'_, Result<Vec<SharedRow>, StoreError>> {
        self.inner.rows(range)
    }

    fn row(&self, key: RowKey) -> BoxFuture<'_, Result<Option<Row>, StoreError>> {
        self.inner.row(key)
    }

    /// The node looks alive all the time.
    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.renew(lease)
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.retire(node)
    }

    fn describe(&self) -> Description {
        self.inner.describe()
    }
}
