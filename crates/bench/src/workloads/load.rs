//! The load: a constant number of runs of ten strict steps, started and awaited through the public
//! API. When one ends, the next one starts. The load pauses between the measured windows, so that
//! the limits can be measured.
//!
//! Only events inside a window count: a step when its result is durable (only then does the code
//! after it run), a run when its caller has the result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use everstep::control::Grouping;
use everstep::{Ctx, Engine, Error, WaitError, Workflow, Workflows};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::local_server::RemoteWorker;
use crate::payload::RandomTexts;
use crate::process::CpuTimer;
use crate::progress::Progress;
use crate::statistics::ratio;
use crate::store_location::StoreLocation;
use crate::ten_step_run::STEP_NAMES;

/// How often a paused load checks whether runs are still in flight.
const REST_POLL: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

pub(crate) struct LoadPlan {
    pub(crate) in_flight: u32,
    pub(crate) payload_bytes: usize,
    /// Whether a worker executes the workflows over HTTP.
    pub(crate) is_remote: bool,
    /// The unmeasured load before each window.
    pub(crate) warm_up: Duration,
}

pub(crate) struct Window {
    /// The actual length.
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Duration,
    pub(crate) steps: u64,
    /// The average number of commits per batch.
    pub(crate) group: f64,
    /// The duration of each run that ended inside the window.
    pub(crate) run_us: Vec<f64>,
    /// The steps of each whole second.
    pub(crate) steps_by_second: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Paused,
    WarmingUp,
    Measuring,
    Ending,
}

/// State shared by the drivers and the measurement.
struct Shared {
    phase: watch::Sender<Phase>,
    in_flight: AtomicUsize,
    steps: Arc<AtomicU64>,
    run_us: Mutex<Vec<f64>>,
}

impl Shared {
    fn run_us(&self) -> MutexGuard<'_, Vec<f64>> {
        self.run_us.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TenSteps {
    texts: RandomTexts,
    steps: Arc<AtomicU64>,
}

impl Workflow for TenSteps {
    const NAME: &'static str = "ten-steps";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, (): ()) -> everstep::Result<()> {
        for name in STEP_NAMES {
            ctx.step(name, || async { Ok::<_, Error>(self.texts.next()) })
                .await?;
            self.steps.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

pub(crate) struct Load {
    engine: Engine,
    remote: Option<RemoteWorker>,
    drivers: JoinSet<Result<(), WaitError>>,
    shared: Arc<Shared>,
    plan: LoadPlan,
}

impl Load {
    /// Opens an engine on an empty store. The load is paused.
    pub(crate) async fn open(plan: LoadPlan, location: &StoreLocation) -> anyhow::Result<Self> {
        let steps = Arc::new(AtomicU64::new(0));
        let workflow = TenSteps {
            texts: RandomTexts::of_json_bytes(plan.payload_bytes),
            steps: steps.clone(),
        };
        let engine = location.engine().await?;
        let (engine, remote) = match plan.is_remote {
            false => {
                let engine = engine.workflows(Workflows::new().workflow(workflow));
                (engine.start().await?, None)
            }
            true => {
                let engine = engine.start().await?;
                let remote = RemoteWorker::start(&engine, workflow).await?;
                (engine, Some(remote))
            }
        };
        let shared = Arc::new(Shared {
            phase: watch::channel(Phase::Paused).0,
            in_flight: AtomicUsize::new(0),
            steps,
            run_us: Mutex::default(),
        });
        let mut drivers = JoinSet::new();
        for _ in 0..plan.in_flight {
            drivers.spawn(drive(engine.clone(), shared.clone()));
        }
        Ok(Self {
            engine,
            remote,
            drivers,
            shared,
            plan,
        })
    }

    /// Measures one window, then pauses the load.
    pub(crate) async fn measure(
        &mut self,
        length: Duration,
        progress: &Progress,
    ) -> anyhow::Result<Window> {
        let (plan, shared) = (&self.plan, &self.shared);
        let in_flight = plan.in_flight;
        progress.stage(&format!("{in_flight} in flight: workflows for {length:?}"));
        shared.phase.send_replace(Phase::WarmingUp);
        tokio::time::sleep(plan.warm_up).await;
        let (begun, cpu) = (Instant::now(), CpuTimer::start());
        let steps = shared.steps.load(Ordering::Relaxed);
        let grouping = self.engine.as_ref().grouping();
        shared.phase.send_replace(Phase::Measuring);
        let window = (begun, length);
        let steps_by_second =
            wait_for_end_of_window(in_flight, window, &shared.steps, progress).await;
        let steps = shared.steps.load(Ordering::Relaxed).saturating_sub(steps);
        let (elapsed, cpu) = (begun.elapsed(), cpu.elapsed());
        let group = mean_group(grouping, self.engine.as_ref().grouping());
        shared.phase.send_replace(Phase::Paused);
        let run_us = std::mem::take(&mut *shared.run_us());
        self.wait_until_idle().await?;
        Ok(Window {
            elapsed,
            cpu,
            steps,
            group,
            run_us,
            steps_by_second,
        })
    }

    /// Waits for the runs in flight to end. Returns the error of a driver that failed.
    async fn wait_until_idle(&mut self) -> anyhow::Result<()> {
        loop {
            if let Some(driver) = self.drivers.try_join_next() {
                driver??;
            }
            if self.shared.in_flight.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            tokio::time::sleep(REST_POLL).await;
        }
    }

    /// Stops the load and shuts the engine down.
    pub(crate) async fn close(mut self) -> anyhow::Result<()> {
        self.shared.phase.send_replace(Phase::Ending);
        while let Some(driver) = self.drivers.join_next().await {
            driver??;
        }
        if let Some(remote) = self.remote {
            remote.stop().await;
        }
        self.engine.shutdown().await;
        Ok(())
    }
}

/// Returns the average number of commits per batch between two points in time.
fn mean_group(before: Grouping, after: Grouping) -> f64 {
    let commits = after.commits.saturating_sub(before.commits);
    let batches = after.batches.saturating_sub(before.batches);
    ratio(commits as f64, batches as f64)
}

/// Waits for the end of the window and reports the rate once per second. Returns the rates.
async fn wait_for_end_of_window(
    in_flight: u32,
    (begun, length): (Instant, Duration),
    steps: &AtomicU64,
    progress: &Progress,
) -> Vec<f64> {
    let mut rates = Vec::new();
    let mut last = steps.load(Ordering::Relaxed);
    while let Some(left) = length.checked_sub(begun.elapsed()) {
        let tick = left.min(SECOND);
        tokio::time::sleep(tick).await;
        let now = steps.load(Ordering::Relaxed);
        let rate = (now - last) as f64 / tick.as_secs_f64();
        last = now;
        if tick == SECOND {
            rates.push(rate);
        }
        let seconds = left.saturating_sub(tick).as_secs_f64();
        let text = format!("{in_flight} in flight: {rate:.0} steps/s, {seconds:.0} s left");
        progress.update(&text);
    }
    rates
}

/// Starts one run after the other until the load ends.
async fn drive(engine: Engine, shared: Arc<Shared>) -> Result<(), WaitError> {
    let mut phase = shared.phase.subscribe();
    loop {
        // Incremented before the phase is read. Otherwise a run could begin after the load
        // was found idle.
        shared.in_flight.fetch_add(1, Ordering::SeqCst);
        let now = *phase.borrow_and_update();
        let ran = match now {
            Phase::WarmingUp | Phase::Measuring => run_once(&engine, &shared).await,
            Phase::Paused | Phase::Ending => Ok(()),
        };
        shared.in_flight.fetch_sub(1, Ordering::SeqCst);
        ran?;
        if now == Phase::Ending || (now == Phase::Paused && phase.changed().await.is_err()) {
            return Ok(());
        }
    }
}

async fn run_once(engine: &Engine, shared: &Shared) -> Result<(), WaitError> {
    let begun = Instant::now();
    engine.start_and_wait::<TenSteps>(&()).await?;
    let took = begun.elapsed().as_secs_f64() * 1e6;
    if *shared.phase.borrow() == Phase::Measuring {
        shared.run_us().push(took);
    }
    Ok(())
}
