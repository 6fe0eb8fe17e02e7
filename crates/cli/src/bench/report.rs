//! The figures: one JSON object for programs; a table and a sentence on what limits it for people.

use std::io::Write;

use serde::Serialize;

use super::load::Window;
use super::statistics::{median, percentile, ratio};
use super::{Round, STEPS_PER_RUN};
use crate::arguments::{Bench, Scenario};

/// A sync faster than this did not reach a disk.
const FASTEST_DISK_US: f64 = 10.0;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    benchmark: &'static str,
    version: &'static str,
    seconds: u64,
    payload_bytes: u32,
    steps_per_run: u64,
    workers: u32,
    cores: usize,
    /// One for each number of runs in flight.
    pub(super) results: Vec<Figures>,
}

/// The figures for one number of runs in flight.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    in_flight: u32,
    steps_per_second: f64,
    runs_per_second: f64,
    /// How many commits one sync makes durable, on average.
    commits_per_batch: f64,
    /// Steps a second, compared with the store driven alone with one commit per step, in batches as large.
    ratio_to_store: f64,
    /// Steps a second, compared with a bare log that syncs groups of as many records.
    ratio_to_log: f64,
    /// Processor time of all threads, starting and awaiting the runs included.
    cpu_us_per_step: f64,
    cores_busy: f64,
    run_p50_ms: f64,
    run_p99_ms: f64,
    fdatasync_us: f64,
    log_records_per_second: f64,
    store_steps_per_second: f64,
    store_cpu_us_per_step: f64,
    /// How long a run takes, compared with eleven bare syncs: one for its creation, one for each step.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_to_11_fdatasyncs: Option<f64>,
}

impl Figures {
    pub(super) fn new(scenario: Scenario, in_flight: u32, rounds: &[Round]) -> Self {
        let sum =
            |of: fn(&Window) -> f64| rounds.iter().map(|round| of(&round.window)).sum::<f64>();
        let seconds = sum(|window| window.elapsed.as_secs_f64());
        let (steps, runs) = (
            sum(|window| window.steps as f64),
            sum(|window| window.run_us.len() as f64),
        );
        let cpu = sum(|window| window.cpu.as_secs_f64());
        let mut run_us: Vec<f64> = rounds
            .iter()
            .flat_map(|round| &round.window.run_us)
            .copied()
            .collect();
        let typical = |of: fn(&Round) -> f64| median(&rounds.iter().map(of).collect::<Vec<_>>());
        Self {
            in_flight,
            steps_per_second: ratio(steps, seconds),
            runs_per_second: ratio(runs, seconds),
            commits_per_batch: typical(|round| round.window.group),
            ratio_to_store: typical(|round| ratio(round.steps_per_second(), round.store())),
            ratio_to_log: typical(|round| ratio(round.steps_per_second(), round.log())),
            cpu_us_per_step: ratio(cpu * 1e6, steps),
            cores_busy: ratio(cpu, seconds),
            run_p50_ms: percentile(&mut run_us, 0.5) / 1e3,
            run_p99_ms: percentile(&mut run_us, 0.99) / 1e3,
            fdatasync_us: typical(Round::fdatasync_us),
            log_records_per_second: typical(Round::log),
            store_steps_per_second: typical(Round::store),
            store_cpu_us_per_step: typical(|round| median(&round.limits.store.cpu_us_per_step)),
            ratio_to_11_fdatasyncs: (scenario == Scenario::Seq10)
                .then(|| typical(Round::ratio_to_syncs)),
        }
    }

    /// What keeps it from being faster.
    fn limit(&self, cores: usize) -> String {
        let busy = format!("{:.1} of {cores} cores are busy", self.cores_busy);
        let store = format!(
            "{:.0} % of what the store does alone",
            self.ratio_to_store * 100.0
        );
        if let Some(syncs) = self.ratio_to_11_fdatasyncs {
            let sync = format!("{:.0} µs", self.fdatasync_us);
            return format!(
                "A run takes {syncs:.2} times as long as eleven bare syncs of {sync} each; what is above 1 is ours."
            );
        }
        if self.cores_busy > 0.85 * cores as f64 {
            format!("The processor limits it: {busy}. It reaches {store}.")
        } else if self.ratio_to_store > 0.8 {
            format!("The store limits it: it reaches {store}; {busy}.")
        } else {
            format!(
                "Waiting limits it, for syncs or for a thread that has too much to do: {busy}. It reaches {store}."
            )
        }
    }
}

impl Round {
    fn steps_per_second(&self) -> f64 {
        ratio(self.window.steps as f64, self.window.elapsed.as_secs_f64())
    }

    fn store(&self) -> f64 {
        median(&self.limits.store.steps_per_second)
    }

    fn log(&self) -> f64 {
        median(&self.limits.disk.log_per_second)
    }

    fn fdatasync_us(&self) -> f64 {
        median(&self.limits.disk.fdatasync_us)
    }

    fn ratio_to_syncs(&self) -> f64 {
        let syncs = (STEPS_PER_RUN + 1) as f64 * self.fdatasync_us();
        ratio(median(&self.window.run_us), syncs)
    }
}

impl Report {
    pub(super) fn new(arguments: &Bench) -> Self {
        Self {
            benchmark: match arguments.scenario {
                Scenario::Seq10 => "seq10",
                Scenario::Throughput => "throughput",
                Scenario::Loop => "loop",
            },
            version: env!("CARGO_PKG_VERSION"),
            seconds: arguments.seconds,
            payload_bytes: arguments.payload_bytes,
            steps_per_run: STEPS_PER_RUN,
            workers: arguments.workers,
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            results: Vec::new(),
        }
    }

    pub(super) fn print(&self, json: bool) -> anyhow::Result<()> {
        let text = if json {
            serde_json::to_string(self)?
        } else {
            self.table()
        };
        writeln!(std::io::stdout(), "{text}")?;
        Ok(())
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{}: runs of {} strict steps of {} bytes, {} s each, {} workers\n\n",
            self.benchmark, self.steps_per_run, self.payload_bytes, self.seconds, self.workers
        );
        text.push_str("in flight   steps/s    runs/s   of store   of log   CPU/step     run p50     run p99\n");
        for row in &self.results {
            text.push_str(&format!(
                "{:>9} {:>9.0} {:>9.0} {:>10.2} {:>8.2} {:>7.1} µs {:>8.2} ms {:>8.2} ms\n",
                row.in_flight,
                row.steps_per_second,
                row.runs_per_second,
                row.ratio_to_store,
                row.ratio_to_log,
                row.cpu_us_per_step,
                row.run_p50_ms,
                row.run_p99_ms
            ));
        }
        text.push_str("\nThe machine's limits, measured in turns with it:\n\n");
        text.push_str("in flight   fdatasync   log records/s   store steps/s   store CPU/step\n");
        for row in &self.results {
            text.push_str(&format!(
                "{:>9} {:>8.0} µs {:>15.0} {:>15.0} {:>13.1} µs\n",
                row.in_flight,
                row.fdatasync_us,
                row.log_records_per_second,
                row.store_steps_per_second,
                row.store_cpu_us_per_step
            ));
        }
        text.push('\n');
        for row in &self.results {
            text.push_str(&format!(
                "{} in flight: {}\n",
                row.in_flight,
                row.limit(self.cores)
            ));
        }
        if self
            .results
            .iter()
            .any(|row| row.fdatasync_us < FASTEST_DISK_US)
        {
            text.push_str(
                "A sync this fast did not reach a disk: name a directory on one with --data.\n",
            );
        }
        text.truncate(text.trim_end().len());
        text
    }
}
