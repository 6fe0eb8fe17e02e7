//! Measures the store without an engine or workflow code. It has as many streams as there are runs
//! in flight. Each batch appends one step to as many streams as the engine's batches had commits.
//!
//! The commits equal those of an executor (fences, sequences, both records of a step), so that the
//! frames have the same bytes. Only the time inside the store counts, because an engine builds the
//! next batch while the store commits the current one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use everstep::journal::record::Created;
use everstep::journal::{Body, Generation, Location, Record, RecordNumber};
use everstep::{Name, Payload, RunId, RunStatus};
use everstep_model::{ExecutorSeq, NodeId, Nonce, Seed, StreamName, StreamNumber};
use everstep_store::{
    AppendCommit, Claim, Clock, Commit, CreateCommit, Executor, Fence, Lease, Outcome, RunRow,
    Store, SystemClock,
};

use crate::payload::RandomTexts;
use crate::process::CpuTimer;
use crate::statistics::{SlicedRate, ratio};
use crate::store_location::StoreLocation;
use crate::ten_step_run::{STEP_NAMES, STEPS_PER_RUN, step_records};

const NODE: NodeId = NodeId(1);
/// Longer than any benchmark.
const LEASE: Lease = Lease {
    node: NODE,
    ttl: Duration::from_secs(1_000_000),
};
/// Unmeasured batches at the start of each measurement.
const WARM_UP_BATCHES: usize = 20;

#[derive(Clone, Default)]
pub(crate) struct StoreSamples {
    /// Step commits per second, one value per time slice.
    pub(crate) steps_per_second: Vec<f64>,
    /// Processor time per step, one value per measurement.
    pub(crate) cpu_us_per_step: Vec<f64>,
}

impl StoreSamples {
    pub(crate) fn add(&mut self, other: &Self) {
        self.steps_per_second.extend(&other.steps_per_second);
        self.cpu_us_per_step.extend(&other.cpu_us_per_step);
    }
}

/// A stream to which only steps are appended.
struct Run {
    stream: StreamNumber,
    fence: Fence,
    steps: u64,
}

pub(crate) struct StoreAlone {
    store: Arc<dyn Store>,
    runtime: tokio::runtime::Runtime,
    runs: Vec<Run>,
    /// Index of the run that gets the next step.
    next: usize,
    step_names: Vec<Name>,
    texts: RandomTexts,
}

impl StoreAlone {
    /// Opens an empty store and creates the streams.
    pub(crate) fn open(
        location: &StoreLocation,
        payload_bytes: usize,
        streams: usize,
    ) -> anyhow::Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build()?;
        let mut driver = Self {
            store: runtime.block_on(location.open())?,
            runtime,
            runs: Vec::with_capacity(streams),
            next: 0,
            step_names: STEP_NAMES
                .into_iter()
                .map(Name::new)
                .collect::<Result<_, _>>()?,
            texts: RandomTexts::of_json_bytes(payload_bytes),
        };
        driver.runtime.block_on(driver.store.renew(LEASE))?;
        let batch: anyhow::Result<Vec<_>> = (0..streams).map(creation).collect();
        for outcome in driver.runtime.block_on(driver.store.commit(&batch?))? {
            let Outcome::Committed {
                stream,
                taken: Some(fence),
                ..
            } = outcome
            else {
                bail!("the store refused to create a stream: {outcome:?}");
            };
            driver.runs.push(Run {
                stream,
                fence,
                steps: 0,
            });
        }
        Ok(driver)
    }

    /// Commits batches of `group` steps for `length`.
    pub(crate) fn measure(
        &mut self,
        group: usize,
        length: Duration,
    ) -> anyhow::Result<StoreSamples> {
        for _ in 0..WARM_UP_BATCHES {
            let batch = self.next_batch(group)?;
            self.commit(&batch)?;
        }
        let (mut rate, mut steps, mut build_cpu) = (SlicedRate::default(), 0, Duration::ZERO);
        let (begun, cpu) = (Instant::now(), CpuTimer::start());
        while begun.elapsed() < length {
            let own_cpu = CpuTimer::start_for_thread();
            let batch = self.next_batch(group)?;
            build_cpu += own_cpu.elapsed();
            let committing = Instant::now();
            self.commit(&batch)?;
            rate.add(batch.len() as u64, committing.elapsed());
            steps += batch.len();
        }
        let used = cpu.elapsed().saturating_sub(build_cpu);
        Ok(StoreSamples {
            steps_per_second: rate.into_rates(),
            cpu_us_per_step: vec![ratio(used.as_secs_f64() * 1e6, steps as f64)],
        })
    }

    /// Builds a batch with one step for each of the next `group` runs.
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
        for outcome in self.runtime.block_on(self.store.commit(batch))? {
            if !matches!(outcome, Outcome::Committed { .. }) {
                bail!("the store refused a step: {outcome:?}");
            }
        }
        Ok(())
    }
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
        no_return: false,
    });
    commit.records.push(Record { time: now, body });
    commit.run = Some(row.into());
    commit.claim = Some(Claim {
        node: NODE,
        nonce: Nonce(number as u64),
    });
    Ok(commit.into())
}
