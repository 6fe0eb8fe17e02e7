//! What every workload is given: what was asked for, where to write, whom to tell; and how long and how often it measures.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::runtime::Runtime;

use super::arguments::Bench;
use super::disk_limits::{DiskSamples, StepBytes};
use super::place::Place;
use super::progress::Progress;

/// How often workflows and limits take turns.
const ROUNDS: u32 = 4;
/// Shorter measurements are not divided.
const ROUNDS_FROM_SECONDS: u64 = 8;

pub(super) struct Setup<'a> {
    pub(super) arguments: &'a Bench,
    pub(super) place: Place,
    pub(super) progress: Progress,
    /// A store with very many sleeping runs, once a workload has made it.
    pub(super) sleepers: OnceCell<PathBuf>,
    /// What was created in a database.
    schemas: RefCell<Vec<String>>,
}

impl<'a> Setup<'a> {
    pub(super) fn new(arguments: &'a Bench) -> anyhow::Result<Self> {
        Ok(Self {
            arguments,
            place: Place::new(arguments.data.as_deref())?,
            progress: Progress::new(),
            sleepers: OnceCell::new(),
            schemas: RefCell::default(),
        })
    }

    pub(super) fn rounds(&self) -> u32 {
        if self.arguments.seconds < ROUNDS_FROM_SECONDS {
            1
        } else {
            ROUNDS
        }
    }

    pub(super) fn round_length(&self) -> Duration {
        Duration::from_secs(self.arguments.seconds) / self.rounds()
    }

    /// Before each round.
    pub(super) fn warm_up(&self) -> Duration {
        Duration::from_secs_f64((self.arguments.seconds as f64 / 20.0).clamp(0.3, 2.0))
    }

    pub(super) fn payload_bytes(&self) -> usize {
        self.arguments.payload_bytes as usize
    }

    /// How long each limit of the disk is measured.
    pub(super) fn disk_length(&self) -> Duration {
        Duration::from_secs_f64((self.arguments.seconds as f64 / 60.0).clamp(0.25, 1.0))
    }

    /// How many runs there are, unless it is said.
    pub(super) fn runs(&self, default: u64) -> u64 {
        self.arguments.runs.unwrap_or(default)
    }

    /// The name of a schema that nobody has used yet.
    pub(super) fn schema(&self, name: &str) -> String {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let schema = format!("everstep_bench_{}_{name}", since.as_micros());
        self.schemas.borrow_mut().push(schema.clone());
        schema
    }

    /// How what remains in the database is removed, if anything does.
    pub(super) fn how_to_clear(&self) -> Option<String> {
        let schemas = self.schemas.borrow().join(", ");
        (!schemas.is_empty())
            .then(|| format!("This removes what was written: DROP SCHEMA {schemas} CASCADE;"))
    }

    /// The threads that execute workflow code.
    pub(super) fn runtime(&self) -> std::io::Result<Runtime> {
        runtime(self.arguments.workers())
    }

    /// The threads that do everything, where clients run on them, too.
    pub(super) fn runtime_with_clients(&self) -> std::io::Result<Runtime> {
        runtime(self.arguments.workers_and_clients())
    }

    /// What a bare sync takes just now.
    pub(super) fn measure_sync(&self) -> anyhow::Result<DiskSamples> {
        self.progress.say("the disk alone");
        let bytes = StepBytes::of(self.payload_bytes())?;
        let place = self.place.fresh("disk")?;
        Ok(DiskSamples::measure_syncs(
            &place,
            &bytes,
            self.disk_length(),
        )?)
    }
}

/// So many threads that execute workflow code.
pub(super) fn runtime(workers: u32) -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers as usize)
        .enable_all()
        .build()
}
