//! The environment of a workload: arguments, scratch directory, progress, and the number and length
//! of rounds.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::runtime::Runtime;

use crate::arguments::BenchArguments;
use crate::disk_limits::{DiskSamples, bare_log, bare_syncs, step_bytes};
use crate::progress::Progress;
use crate::scratch_directory::ScratchDirectory;

/// How often an operation is repeated that takes as long as it takes, such as a recovery.
const REPETITIONS: u32 = 4;
/// Shorter measurements have a single repetition.
const REPETITIONS_FROM_SECONDS: u64 = 8;

pub(crate) struct Setup<'a> {
    pub(crate) arguments: &'a BenchArguments,
    pub(crate) scratch: ScratchDirectory,
    pub(crate) progress: Progress,
    /// The store with very many sleeping runs, created by the first workload that needs it.
    pub(crate) sleepers: OnceCell<PathBuf>,
    /// The database schemas that were created.
    schemas: RefCell<Vec<String>>,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(arguments: &'a BenchArguments) -> anyhow::Result<Self> {
        Ok(Self {
            arguments,
            scratch: ScratchDirectory::new(arguments.data.as_deref())?,
            progress: Progress::new(),
            sleepers: OnceCell::new(),
            schemas: RefCell::default(),
        })
    }

    pub(crate) fn stage(&self, text: impl AsRef<str>) {
        self.progress.stage(text.as_ref());
    }

    /// How often a measurement of a certain length is made.
    pub(crate) fn rounds(&self) -> u32 {
        self.arguments.rounds
    }

    pub(crate) fn repetitions(&self) -> u32 {
        let is_short = self.arguments.seconds < REPETITIONS_FROM_SECONDS;
        if is_short { 1 } else { REPETITIONS }
    }

    pub(crate) fn round_length(&self) -> Duration {
        Duration::from_secs(self.arguments.seconds)
    }

    /// The unmeasured load before each round.
    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_secs_f64((self.arguments.seconds as f64 / 20.0).clamp(0.3, 2.0))
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        self.arguments.payload_bytes as usize
    }

    /// The value of `--runs`, or the workload's default.
    pub(crate) fn runs(&self, default: u64) -> u64 {
        self.arguments.runs.unwrap_or(default)
    }

    /// Returns a unique schema name.
    pub(crate) fn schema(&self, name: &str) -> String {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let schema = format!("everstep_bench_{}_{name}", since.as_micros());
        self.schemas.borrow_mut().push(schema.clone());
        schema
    }

    /// Returns the statement that removes the created schemas, if there are any.
    pub(crate) fn cleanup_hint(&self) -> Option<String> {
        let schemas = self.schemas.borrow().join(", ");
        (!schemas.is_empty())
            .then(|| format!("To remove the benchmark data: DROP SCHEMA {schemas} CASCADE;"))
    }

    /// The runtime that executes workflow code.
    pub(crate) fn runtime(&self) -> std::io::Result<Runtime> {
        runtime(self.arguments.workers())
    }

    /// Measures bare syncs.
    pub(crate) fn measure_sync(&self) -> anyhow::Result<DiskSamples> {
        self.measure_disk(self.payload_bytes(), None)
    }

    /// Measures bare syncs and, if a group size is given, a bare log.
    pub(crate) fn measure_disk(
        &self,
        payload_bytes: usize,
        group: Option<usize>,
    ) -> anyhow::Result<DiskSamples> {
        self.stage("measuring the disk");
        let (folder, step) = (self.scratch.fresh("disk")?, step_bytes(payload_bytes)?);
        let seconds = (self.arguments.seconds as f64 / 60.0).clamp(0.25, 1.0);
        let length = Duration::from_secs_f64(seconds);
        let log = group.map(|group| bare_log(&folder, &step, group, length));
        Ok(DiskSamples {
            log_per_second: log.transpose()?.unwrap_or_default(),
            fdatasync_us: bare_syncs(&folder, &step, length)?,
        })
    }
}

pub(crate) fn runtime(workers: u32) -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers as usize)
        .enable_all()
        .build()
}
