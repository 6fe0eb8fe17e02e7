//! What the machine can do without workflows: the disk alone and the store alone, in groups as large as the engine's batches.

use std::time::Duration;

use super::disk_limits::{DiskSamples, StepBytes};
use super::setup::Setup;
use super::store_alone::{StoreAlone, StoreSamples};

/// Measures them again and again, in turns with workflows.
pub(super) struct LimitsBench {
    in_flight: u32,
    bytes: StepBytes,
    store: Duration,
    /// One store for all rounds: it grows old together with the engine's.
    store_alone: StoreAlone,
}

impl LimitsBench {
    pub(super) fn open(setup: &Setup<'_>, in_flight: u32) -> anyhow::Result<Self> {
        let seconds = setup.arguments.seconds as f64;
        let place = setup.place.fresh("store")?;
        Ok(Self {
            in_flight,
            bytes: StepBytes::of(setup.payload_bytes())?,
            store: Duration::from_secs_f64((seconds / 10.0).clamp(0.3, 6.0)),
            store_alone: StoreAlone::open(&place, setup.payload_bytes(), in_flight as usize)?,
        })
    }

    pub(super) fn measure(&mut self, group: f64, setup: &Setup<'_>) -> anyhow::Result<Limits> {
        let group = (group.round() as usize).max(1);
        let (in_flight, progress) = (self.in_flight, &setup.progress);
        progress.say(&format!("{in_flight} in flight: the disk alone"));
        let place = setup.place.fresh("disk")?;
        let disk = DiskSamples::measure(&place, &self.bytes, group, setup.disk_length())?;
        progress.say(&format!("{in_flight} in flight: the store alone"));
        let store = self.store_alone.measure(group, self.store)?;
        Ok(Limits { disk, store })
    }
}

/// What was measured.
#[derive(Clone)]
pub(super) struct Limits {
    pub(super) disk: DiskSamples,
    pub(super) store: StoreSamples,
}

impl Limits {
    /// These samples and those.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.disk.add(&other.disk);
        all.store.add(&other.store);
        all
    }
}
