//! `everstep bench`: how fast workflows run here, and next to it, in the same run, the limits of the machine.
//!
//! ```text
//!   for each number of runs in flight:   rehearsal ─▶ limits ─▶ workflows ─▶ limits ─▶ workflows ─▶ … ─▶ limits
//!   limits: bare fdatasync, a bare log in groups, the store driven alone in groups
//! ```
//!
//! The groups are as large as the engine's batches were in the workflows just before.
//!
//! Machines are noisy, so they take turns: each window of workflows is compared with the limits just before and after
//! it, and the median of these comparisons is what is reported.

mod cpu;
mod disk_limits;
mod load;
mod long_loop;
mod payload;
mod progress;
mod remote;
mod report;
mod statistics;
mod store_alone;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::arguments::{Bench, Scenario};
use crate::ending::{Ending, UsageError};
use disk_limits::{DiskSamples, StepBytes};
use load::{Load, LoadPlan, Window};
use progress::Progress;
use report::{Figures, Report};
use store_alone::{StoreAlone, StoreSamples};

/// Steps of one run.
const STEPS_PER_RUN: u64 = 10;
/// How often workflows and limits take turns.
const ROUNDS: u32 = 4;
/// Shorter measurements are not divided.
const ROUNDS_FROM_SECONDS: u64 = 8;

pub(crate) fn run(arguments: &Bench, is_json: bool) -> anyhow::Result<Ending> {
    let place = Place::new(arguments.data.as_deref())?;
    let progress = Progress::new();
    let in_flight: &[u32] = match arguments.scenario {
        Scenario::Seq10 => &[1],
        Scenario::Throughput => &arguments.in_flight,
        Scenario::Loop => {
            long_loop::run(arguments, is_json, &place, &progress)?;
            return Ok(Ending::Well);
        }
    };
    let mut report = Report::new(arguments);
    for &in_flight in in_flight {
        report
            .results
            .push(measure(arguments, in_flight, &place, &progress)?);
    }
    progress.clear();
    report.print(is_json)?;
    Ok(Ending::Well)
}

/// Limits and workflows in turns, so that both meet the machine in the same mood.
fn measure(
    arguments: &Bench,
    in_flight: u32,
    place: &Place,
    progress: &Progress,
) -> anyhow::Result<Figures> {
    let (seconds, payload_bytes) = (arguments.seconds as f64, arguments.payload_bytes as usize);
    let rounds = if arguments.seconds < ROUNDS_FROM_SECONDS {
        1
    } else {
        ROUNDS
    };
    let mut bench = LimitsBench {
        in_flight,
        bytes: StepBytes::of(payload_bytes)?,
        disk: Duration::from_secs_f64((seconds / 60.0).clamp(0.25, 1.0)),
        store: Duration::from_secs_f64((seconds / 10.0).clamp(0.3, 6.0)),
        store_alone: StoreAlone::open(&place.fresh("store")?, payload_bytes, in_flight as usize)?,
    };
    let plan = LoadPlan {
        in_flight,
        workers: arguments.workers as usize,
        is_remote: arguments.remote,
        payload_bytes,
        warm_up: Duration::from_secs_f64((seconds / 20.0).clamp(0.3, 2.0)),
    };
    let length = Duration::from_secs_f64(seconds / f64::from(rounds));
    let mut load = Load::open(plan, &place.fresh("engine")?)?;
    let rehearsal = load.measure(length / 4, progress)?;
    let mut before = bench.measure(rehearsal.group, place, progress)?;
    let mut measured = Vec::new();
    for _ in 0..rounds {
        let window = load.measure(length, progress)?;
        let after = bench.measure(window.group, place, progress)?;
        measured.push(Round {
            window,
            limits: before.with(&after),
        });
        before = after;
    }
    load.close()?;
    Ok(Figures::new(arguments.scenario, in_flight, &measured))
}

/// One window of workflows, and the limits just before and after it.
struct Round {
    window: Window,
    limits: Limits,
}

/// Measures what the machine can do without workflows.
struct LimitsBench {
    in_flight: u32,
    bytes: StepBytes,
    disk: Duration,
    store: Duration,
    /// One store for all rounds: it grows old together with the engine's.
    store_alone: StoreAlone,
}

impl LimitsBench {
    fn measure(
        &mut self,
        group: f64,
        place: &Place,
        progress: &Progress,
    ) -> anyhow::Result<Limits> {
        let group = (group.round() as usize).max(1);
        progress.say(&format!("{} in flight: the disk alone", self.in_flight));
        let disk = DiskSamples::measure(&place.fresh("disk")?, &self.bytes, group, self.disk)?;
        progress.say(&format!("{} in flight: the store alone", self.in_flight));
        let store = self.store_alone.measure(group, self.store)?;
        Ok(Limits { disk, store })
    }
}

/// What the machine can do without workflows.
#[derive(Clone)]
struct Limits {
    disk: DiskSamples,
    store: StoreSamples,
}

impl Limits {
    /// These samples and those.
    fn with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.disk.add(&other.disk);
        all.store.add(&other.store);
        all
    }
}

/// Where the benchmark writes; removed at the end.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(data: Option<&Path>) -> anyhow::Result<Self> {
        let root = match data {
            Some(data) => {
                if data.is_file() {
                    return Err(UsageError {
                        what: format!("{} is a file", data.display()),
                        remedy: "Name a directory with --data.".to_owned(),
                    }
                    .into());
                }
                std::fs::create_dir_all(data)
                    .with_context(|| format!("cannot create {}", data.display()))?;
                tempfile::Builder::new()
                    .prefix("everstep-bench-")
                    .tempdir_in(data)
            }
            None => tempfile::Builder::new().prefix("everstep-bench-").tempdir(),
        };
        let root = root.context("cannot create a directory to write to")?;
        Ok(Self { root })
    }

    /// An empty directory of that name; what an earlier measurement left there is gone.
    fn fresh(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.root.path().join(name);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }
}
