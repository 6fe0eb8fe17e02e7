//! A store that fails on demand: for all calls, for single runs, or by losing answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use everstep_model::{Generation, RunId, StreamName, StreamNumber};
use everstep_store::{
    Answer, BoxFuture, Call, Commit, Description, Intercept, Outcome, Refusal, Store, StoreError,
    StreamRef,
};

/// The damaged part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Nothing is readable.
    Head,
    /// Its journal.
    Journal,
    /// Something that only commits need.
    Row,
}

pub(super) struct Failing {
    inner: Arc<dyn Store>,
    commits: Mutex<Option<StoreError>>,
    reads: Mutex<Option<StoreError>>,
    damaged: Mutex<BTreeMap<StreamNumber, Damage>>,
    /// The state of the random generator. `None` loses no answers.
    losing: Mutex<Option<u64>>,
    refused: AtomicU64,
}

impl Failing {
    pub(super) fn new(inner: impl Store) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(inner),
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

    /// The number of reads of a damaged run.
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

impl Failing {
    async fn commit_batch(&self, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        failed(&self.commits)?;
        let outcomes = self.commit_sound(batch).await?;
        if self.loses() {
            let detail = "the answer got lost".to_owned();
            return Err(StoreError::Unavailable { detail });
        }
        Ok(outcomes)
    }

    async fn query(&self, call: Call) -> Result<Answer, StoreError> {
        self.before(&call)?;
        let mut answer = call.clone().perform(&*self.inner).await?;
        self.after(&call, &mut answer)?;
        Ok(answer)
    }
}

impl Intercept for Failing {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    /// Leases do not fail, so that the node stays alive.
    fn before(&self, call: &Call) -> Result<(), StoreError> {
        match call {
            Call::Outbox { .. } | Call::Ready { .. } => failed(&self.reads),
            Call::Read { request } => {
                failed(&self.reads)?;
                self.check(request.stream, &[Damage::Head, Damage::Journal])
            }
            _ => Ok(()),
        }
    }

    fn after(&self, _: &Call, answer: &mut Answer) -> Result<(), StoreError> {
        match answer {
            Answer::Head(Some(head)) => self.check(head.number, &[Damage::Head])?,
            Answer::Ready(runs) => {
                runs.retain(|run| self.check(run.stream, &[Damage::Head]).is_ok());
            }
            _ => {}
        }
        Ok(())
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            match call {
                Call::Commit { batch } => self.commit_batch(&batch).await.map(Answer::Commit),
                query => self.query(query).await,
            }
        })
    }
}
