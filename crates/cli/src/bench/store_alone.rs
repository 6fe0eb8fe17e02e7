//! The store driven alone: as many streams as runs are in flight, one commit of one step record per stream, all in one
//! batch, one batch after the other. No engine, no workflow code; fences and sequences as an executor's.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use everstep::record::{Created, StepCompleted};
use everstep::{Body, Generation, Location, Name, Payload, Record, RecordNumber, RunId, RunStatus};
use everstep_model::{ExecutorSeq, NodeId, Nonce, Seed, StreamName, StreamNumber};
use everstep_store::{
    Author, BoxFuture, Clock, Commit, Fence, Lease, LeaseChange, Outcome, RunRow, Store,
    StoreError, Target,
};
use everstep_store_embedded::EmbeddedStore;

use super::payload::Texts;
use super::statistics::{SlicedRate, ratio};
use super::{STEPS_PER_RUN, cpu};
use crate::system_clock::SystemClock;

/// Longer than any benchmark.
const LEASE: Duration = Duration::from_secs(1_000_000);
const NODE: NodeId = NodeId(1);
/// Batches before the clock starts.
const WARM_UP_BATCHES: usize = 20;

/// What was measured.
#[derive(Clone, Default)]
pub(super) struct StoreSamples {
    /// Step commits a second, slice by slice.
    pub(super) steps_per_second: Vec<f64>,
    /// Processor time of each measurement, in microseconds a step.
    pub(super) cpu_us_per_step: Vec<f64>,
}

impl StoreSamples {
    pub(super) fn add(&mut self, other: &Self) {
        self.steps_per_second.extend(&other.steps_per_second);
        self.cpu_us_per_step.extend(&other.cpu_us_per_step);
    }
}

/// A stream that only ever grows by steps.
struct Run {
    stream: StreamNumber,
    fence: Fence,
    steps: u64,
}

/// A store, its streams, and nobody else.
pub(super) struct StoreAlone {
    store: EmbeddedStore,
    waiting: tokio::runtime::Runtime,
    runs: Vec<Run>,
    texts: Texts,
}

impl StoreAlone {
    /// Opens a store in an empty directory and creates the streams.
    pub(super) fn open(place: &Path, payload_bytes: usize, streams: usize) -> anyhow::Result<Self> {
        let mut driver = Self {
            store: EmbeddedStore::open(place, Arc::new(SystemClock))?,
            waiting: tokio::runtime::Builder::new_current_thread().build()?,
            runs: Vec::with_capacity(streams),
            texts: Texts::of_json_bytes(payload_bytes),
        };
        let lease = Lease {
            node: NODE,
            ttl: LEASE,
        };
        driver.done(driver.store.renew(lease))?;
        let batch = (0..streams)
            .map(creation)
            .collect::<anyhow::Result<Vec<_>>>()?;
        for outcome in driver.done(driver.store.commit(&batch))? {
            let Outcome::Committed {
                stream,
                taken: Some(fence),
                ..
            } = outcome
            else {
                bail!("the store refused to create a stream: {outcome:?}");
            };
            let steps = 0;
            driver.runs.push(Run {
                stream,
                fence,
                steps,
            });
        }
        Ok(driver)
    }

    /// Commits steps for this long.
    pub(super) fn measure(&mut self, length: Duration) -> anyhow::Result<StoreSamples> {
        for _ in 0..WARM_UP_BATCHES {
            self.commit_steps()?;
        }
        let (mut rate, mut steps) = (SlicedRate::new(), 0);
        let (begun, cpu) = (Instant::now(), cpu::used());
        while begun.elapsed() < length {
            self.commit_steps()?;
            rate.add(self.runs.len() as u64);
            steps += self.runs.len();
        }
        let used = cpu::used().saturating_sub(cpu).as_secs_f64();
        Ok(StoreSamples {
            steps_per_second: rate.into_rates(),
            cpu_us_per_step: vec![ratio(used * 1e6, steps as f64)],
        })
    }

    fn done<T>(&self, future: BoxFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
        self.waiting.block_on(future)
    }

    /// One step of every run, as one batch.
    fn commit_steps(&mut self) -> anyhow::Result<()> {
        let mut batch = Vec::with_capacity(self.runs.len());
        for run in &mut self.runs {
            let record = step_record(run.steps, &self.texts)?;
            run.steps += 1;
            let author = Author::Executor {
                fence: run.fence,
                seq: ExecutorSeq(run.steps),
                seen: RecordNumber(run.steps),
                progress: true,
            };
            let mut commit = Commit::new(Target::Stream(run.stream), author, record.time);
            commit.records.push(record);
            batch.push(commit);
        }
        for outcome in self.done(self.store.commit(&batch))? {
            if !matches!(outcome, Outcome::Committed { .. }) {
                bail!("the store refused a step: {outcome:?}");
            }
        }
        Ok(())
    }
}

/// The n-th step of a run, as an executor records it.
pub(super) fn step_record(step: u64, texts: &Texts) -> anyhow::Result<Record> {
    let time = SystemClock.now();
    let name = Name::new(format!("step-{}", step % STEPS_PER_RUN))?;
    let counter = u32::try_from(step / STEPS_PER_RUN).unwrap_or(u32::MAX);
    let body = Body::from(StepCompleted {
        location: Location::root(name, counter),
        attempt: 1,
        started_at: time,
        result: Payload::from_value(&texts.next())?,
        undo: None,
        sensitive: false,
        early: None,
    });
    Ok(Record { time, body })
}

fn creation(number: usize) -> anyhow::Result<Commit> {
    let now = SystemClock.now();
    let row = RunRow {
        id: RunId::new(format!("run-{number}"))?,
        generation: Generation::FIRST,
        workflow: Name::new("ten-steps")?,
        version: 1,
        status: RunStatus::Running,
        tags: Vec::new(),
        created_at: now,
        updated_at: now,
    };
    let name = StreamName::of_run(&row.id, row.generation);
    let mut commit = Commit::new(Target::Create(name), Author::Inbox, now);
    let body = Body::from(Created {
        workflow: row.workflow.clone(),
        version: 1,
        input: Payload::null(),
        seed: Seed(1),
        tags: Vec::new(),
        deadline: None,
        execution_retries: None,
        idempotency_key: None,
        parent: None,
        by: None,
        forked_from: None,
        mark: None,
        parent_identity: None,
        trace: None,
    });
    commit.records.push(Record { time: now, body });
    commit.run = Some(row);
    commit.lease = LeaseChange::TakeIfFree {
        node: NODE,
        nonce: Nonce(number as u64),
    };
    Ok(commit)
}
