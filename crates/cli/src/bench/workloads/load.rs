//! The load: so many runs of ten strict steps in flight, each started and awaited through the public API; when one
//! ends the next one starts. Between the windows that are measured it rests, so that the limits can be measured too.
//!
//! Only what happens inside a window counts: a step when its result is durable (the code after it runs then, and not
//! before), a run when whoever waits for it has its result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use everstep::{Ctx, Engine, Error, Grouping, WaitError, Workflow};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::STEPS_PER_RUN;
use super::remote::Remote;
use crate::bench::cpu;
use crate::bench::payload::Texts;
use crate::bench::progress::Progress;
use crate::bench::statistics::ratio;
use crate::bench::store_place::StorePlace;

/// How often the load looks whether everything has come to rest.
const REST_POLL: Duration = Duration::from_millis(1);

/// How the load is made.
pub(super) struct LoadPlan {
    pub(super) in_flight: u32,
    pub(super) payload_bytes: usize,
    /// Whether a worker executes the workflows, over HTTP.
    pub(super) is_remote: bool,
    /// Before each window.
    pub(super) warm_up: Duration,
}

/// What was measured in one window.
pub(super) struct Window {
    /// How long it was in the end.
    pub(super) elapsed: Duration,
    pub(super) cpu: Duration,
    pub(super) steps: u64,
    /// How many commits a batch had, on average.
    pub(super) group: f64,
    /// How long each run took that ended inside it, in microseconds.
    pub(super) run_us: Vec<f64>,
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Resting,
    WarmingUp,
    Measuring,
    Ending,
}

/// What the drivers and the measurement share.
struct Shared {
    phase: watch::Sender<Phase>,
    /// Runs in flight.
    running: AtomicUsize,
    steps: Arc<AtomicU64>,
    run_us: Mutex<Vec<f64>>,
}

impl Shared {
    fn run_us(&self) -> Vec<f64> {
        let mut run_us = self.run_us.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *run_us)
    }
}

/// The workflow that is measured.
struct TenSteps {
    texts: Texts,
    steps: Arc<AtomicU64>,
}

const STEP_NAMES: [&str; STEPS_PER_RUN as usize] = [
    "step-0", "step-1", "step-2", "step-3", "step-4", "step-5", "step-6", "step-7", "step-8",
    "step-9",
];

impl Workflow for TenSteps {
    const NAME: &'static str = "ten-steps";
    type Input = ();
    type Output = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        for name in STEP_NAMES {
            ctx.step(name, || async { Ok::<_, Error>(self.texts.next()) })
                .await?;
            self.steps.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// An engine with its load.
pub(super) struct Load {
    runtime: Runtime,
    engine: Engine,
    remote: Option<Remote>,
    drivers: JoinSet<Result<(), WaitError>>,
    shared: Arc<Shared>,
    plan: LoadPlan,
}

impl Load {
    /// Opens an engine on an empty store; the load rests.
    pub(super) fn open(
        plan: LoadPlan,
        runtime: Runtime,
        place: &StorePlace,
    ) -> anyhow::Result<Self> {
        let steps = Arc::new(AtomicU64::new(0));
        let workflow = TenSteps {
            texts: Texts::of_json_bytes(plan.payload_bytes),
            steps: steps.clone(),
        };
        let engine = runtime.block_on(place.engine())?;
        let (engine, remote) = match plan.is_remote {
            false => (runtime.block_on(engine.workflow(workflow).start())?, None),
            true => {
                let engine = runtime.block_on(engine.start())?;
                let remote = runtime.block_on(Remote::start(&engine, workflow))?;
                (engine, Some(remote))
            }
        };
        let shared = Arc::new(Shared {
            phase: watch::channel(Phase::Resting).0,
            running: AtomicUsize::new(0),
            steps,
            run_us: Mutex::default(),
        });
        let mut drivers = JoinSet::new();
        for _ in 0..plan.in_flight {
            drivers.spawn_on(drive(engine.clone(), shared.clone()), runtime.handle());
        }
        Ok(Self {
            runtime,
            engine,
            remote,
            drivers,
            shared,
            plan,
        })
    }

    /// Measures one window, then comes to rest.
    pub(super) fn measure(
        &mut self,
        length: Duration,
        progress: &Progress,
    ) -> anyhow::Result<Window> {
        let handle = self.runtime.handle().clone();
        handle.block_on(self.measure_window(length, progress))
    }

    async fn measure_window(
        &mut self,
        length: Duration,
        progress: &Progress,
    ) -> anyhow::Result<Window> {
        let (plan, shared) = (&self.plan, &self.shared);
        let in_flight = plan.in_flight;
        progress.say(&format!("{in_flight} in flight: workflows for {length:?}"));
        shared.phase.send_replace(Phase::WarmingUp);
        tokio::time::sleep(plan.warm_up).await;
        let (begun, cpu, steps) = (
            Instant::now(),
            cpu::used(),
            shared.steps.load(Ordering::Relaxed),
        );
        let grouping = self.engine.as_ref().grouping();
        shared.phase.send_replace(Phase::Measuring);
        pass(in_flight, (begun, length), &shared.steps, progress).await;
        let steps = shared.steps.load(Ordering::Relaxed).saturating_sub(steps);
        let (elapsed, cpu) = (begun.elapsed(), cpu::used().saturating_sub(cpu));
        let group = mean_group(grouping, self.engine.as_ref().grouping());
        shared.phase.send_replace(Phase::Resting);
        let run_us = shared.run_us();
        self.come_to_rest().await?;
        Ok(Window {
            elapsed,
            cpu,
            steps,
            group,
            run_us,
        })
    }

    /// Waits for the runs in flight to end. A driver that gave up ends the benchmark.
    async fn come_to_rest(&mut self) -> anyhow::Result<()> {
        loop {
            if let Some(driver) = self.drivers.try_join_next() {
                driver??;
            }
            if self.shared.running.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            tokio::time::sleep(REST_POLL).await;
        }
    }

    /// Ends it in good order.
    pub(super) fn close(mut self) -> anyhow::Result<()> {
        self.shared.phase.send_replace(Phase::Ending);
        let handle = self.runtime.handle().clone();
        handle.block_on(async {
            while let Some(driver) = self.drivers.join_next().await {
                driver??;
            }
            if let Some(remote) = self.remote {
                remote.end().await;
            }
            self.engine.shutdown().await;
            Ok(())
        })
    }
}

/// How many commits a batch had between two moments.
fn mean_group(before: Grouping, after: Grouping) -> f64 {
    let commits = after.commits.saturating_sub(before.commits);
    let batches = after.batches.saturating_sub(before.batches);
    ratio(commits as f64, batches as f64)
}

/// Lets the window pass, telling once a second how it goes.
async fn pass(
    in_flight: u32,
    (begun, length): (Instant, Duration),
    steps: &AtomicU64,
    progress: &Progress,
) {
    let mut last = steps.load(Ordering::Relaxed);
    while let Some(left) = length.checked_sub(begun.elapsed()) {
        let tick = left.min(Duration::from_secs(1));
        tokio::time::sleep(tick).await;
        let now = steps.load(Ordering::Relaxed);
        let rate = (now - last) as f64 / tick.as_secs_f64();
        last = now;
        let seconds = left.saturating_sub(tick).as_secs_f64();
        progress.update(&format!(
            "{in_flight} in flight: {rate:.0} steps/s, {seconds:.0} s left"
        ));
    }
}

/// Starts a run, waits for its end, starts the next, for as long as it may.
async fn drive(engine: Engine, shared: Arc<Shared>) -> Result<(), WaitError> {
    let mut phase = shared.phase.subscribe();
    loop {
        // Counted before the phase is looked at, so that a load at rest has nothing in flight.
        shared.running.fetch_add(1, Ordering::SeqCst);
        let now = *phase.borrow_and_update();
        let ran = match now {
            Phase::WarmingUp | Phase::Measuring => run_once(&engine, &shared).await,
            Phase::Resting | Phase::Ending => Ok(()),
        };
        shared.running.fetch_sub(1, Ordering::SeqCst);
        ran?;
        if now == Phase::Ending || (now == Phase::Resting && phase.changed().await.is_err()) {
            return Ok(());
        }
    }
}

async fn run_once(engine: &Engine, shared: &Shared) -> Result<(), WaitError> {
    let begun = Instant::now();
    engine.start_and_wait::<TenSteps>(&()).await?;
    let took = begun.elapsed().as_secs_f64() * 1e6;
    if *shared.phase.borrow() == Phase::Measuring {
        let mut run_us = shared.run_us.lock().unwrap_or_else(PoisonError::into_inner);
        run_us.push(took);
    }
    Ok(())
}
