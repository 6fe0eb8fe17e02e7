//! The store driven alone: as many streams as runs are in flight, one batch after the other, each with one step of as
//! many streams as the engine's batches had commits. No engine, no workflow code.
//!
//! Everything the store sees is as an executor sends it: fences, sequences, and both records of a step, so that frames have
//! the same bytes. Only the time inside the store counts: whoever uses one makes the records of the next batch meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use everstep::record::{Created, StepCompleted, StepStarted};
use everstep::{Body, Generation, Location, Name, Payload, Record, RecordNumber, RunId, RunStatus};
use everstep_model::{ExecutorSeq, NodeId, Nonce, Seed, StepOptions, StreamName, StreamNumber};
use everstep_store::{
    AppendCommit, BoxFuture, Claim, Clock, Commit, CreateCommit, Executor, Fence, Lease, Outcome,
    RunRow, Store, StoreError,
};

use super::cpu;
use super::payload::Texts;
use super::statistics::{SlicedRate, ratio};
use super::store_place::StorePlace;
use super::workloads::STEPS_PER_RUN;
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
    store: Arc<dyn Store>,
    waiting: tokio::runtime::Runtime,
    runs: Vec<Run>,
    /// The run whose turn is next.
    next: usize,
    step_names: Vec<Name>,
    texts: Texts,
}

impl StoreAlone {
    /// Opens an empty store and creates the streams.
    pub(super) fn open(
        place: &StorePlace,
        payload_bytes: usize,
        streams: usize,
    ) -> anyhow::Result<Self> {
        let mut waiting = tokio::runtime::Builder::new_current_thread();
        let waiting = waiting.enable_all().build()?;
        let mut driver = Self {
            store: waiting.block_on(place.open())?,
            waiting,
            runs: Vec::with_capacity(streams),
            next: 0,
            step_names: (0..STEPS_PER_RUN)
                .map(|step| Name::new(format!("step-{step}")))
                .collect::<Result<_, _>>()?,
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

    /// Commits steps for this long, so many in a batch.
    pub(super) fn measure(
        &mut self,
        group: usize,
        length: Duration,
    ) -> anyhow::Result<StoreSamples> {
        for _ in 0..WARM_UP_BATCHES {
            let batch = self.next_batch(group)?;
            self.commit(&batch)?;
        }
        let (mut rate, mut steps, mut making) = (SlicedRate::default(), 0, Duration::ZERO);
        let (begun, cpu) = (Instant::now(), cpu::used());
        while begun.elapsed() < length {
            let own_cpu = cpu::used_by_this_thread();
            let batch = self.next_batch(group)?;
            making += cpu::used_by_this_thread().saturating_sub(own_cpu);
            let committing = Instant::now();
            self.commit(&batch)?;
            rate.add(batch.len() as u64, committing.elapsed());
            steps += batch.len();
        }
        let used = cpu::used().saturating_sub(cpu).saturating_sub(making);
        Ok(StoreSamples {
            steps_per_second: rate.into_rates(),
            cpu_us_per_step: vec![ratio(used.as_secs_f64() * 1e6, steps as f64)],
        })
    }

    fn done<T>(&self, future: BoxFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
        self.waiting.block_on(future)
    }

    /// One step of each of so many runs, in turn.
    fn next_batch(&mut self, group: usize) -> anyhow::Result<Vec<Commit>> {
        let streams = self.runs.len();
        let group = group.clamp(1, streams);
        let mut batch = Vec::with_capacity(group);
        for _ in 0..group {
            let run = self.runs.get_mut(self.next);
            let run = run.context("there are no runs")?;
            self.next = (self.next + 1) % streams;
            let name = self.step_names.get((run.steps % STEPS_PER_RUN) as usize);
            let name = name.context("a step has no name")?.clone();
            let counter = u32::try_from(run.steps / STEPS_PER_RUN).unwrap_or(u32::MAX);
            let records = step_records(Location::root(name, counter), &self.texts)?;
            let seen = RecordNumber(1 + run.steps * records.len() as u64);
            run.steps += 1;
            let executor = Executor {
                fence: run.fence,
                seq: ExecutorSeq(run.steps),
                seen,
                progress: true,
            };
            let now = SystemClock.now();
            let mut commit = AppendCommit::new(run.stream, executor, now);
            commit.records.extend(records);
            batch.push(commit.into());
        }
        Ok(batch)
    }

    fn commit(&self, batch: &[Commit]) -> anyhow::Result<()> {
        for outcome in self.done(self.store.commit(batch))? {
            if !matches!(outcome, Outcome::Committed { .. }) {
                bail!("the store refused a step: {outcome:?}");
            }
        }
        Ok(())
    }
}

/// The records of a step that succeeds at once, as an executor writes them in one commit.
pub(super) fn step_records(location: Location, texts: &Texts) -> anyhow::Result<[Record; 2]> {
    let time = SystemClock.now();
    let started = StepStarted {
        location: location.clone(),
        attempt: 1,
        options: Some(StepOptions::default()),
    };
    let completed = StepCompleted {
        location,
        attempt: 1,
        started_at: time,
        result: Payload::from_value(&texts.next())?,
        undo: None,
        sensitive: false,
        early: None,
    };
    Ok([Body::from(started), Body::from(completed)].map(|body| Record { time, body }))
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
    let mut commit = CreateCommit::new(name, now);
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
    commit.run = Some(row.into());
    commit.claim = Some(Claim {
        node: NODE,
        nonce: Nonce(number as u64),
    });
    Ok(commit.into())
}

#[cfg(test)]
mod tests {
    use everstep::{Engine, Error};
    use everstep_model::{Frame, FrameHeader};

    use super::*;

    #[tokio::test]
    async fn a_step_has_the_bytes_that_an_executor_writes() {
        let workflow = |ctx: everstep::Ctx, (): ()| async move {
            let work = || async { Ok::<_, Error>("x".repeat(98)) };
            ctx.step("step-0", work).await.map(|_| ())
        };
        let engine = Engine::in_memory().function("one-step", workflow);
        let engine = engine.start().await.unwrap();
        let run = engine.start_by_name("one-step", Payload::null());
        let run = run.await.unwrap();
        run.wait_json().await.unwrap();
        let journal = run.journal().await.unwrap();
        let records = journal.into_iter().map(|entry| entry.record);
        let is_of_step = |record: &Record| record.body.location().is_some();
        let written: Vec<Record> = records.filter(is_of_step).collect();

        let location = Location::root(Name::new("step-0").unwrap(), 0);
        let driven = step_records(location, &Texts::of_json_bytes(100)).unwrap();
        let bytes = |records: &[Record]| Frame::encode(&FrameHeader::default(), records).len();
        assert_eq!(bytes(&driven), bytes(&written));
        engine.shutdown().await;
    }
}
