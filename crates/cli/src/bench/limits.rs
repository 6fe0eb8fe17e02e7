//! What the machine can do without workflows: the disk alone and the store alone, in groups as large as the engine's batches.

use std::time::Duration;

use super::disk_limits::{DiskSamples, StepBytes};
use super::setup::Setup;
use super::store_alone::{StoreAlone, StoreSamples};
use super::store_place::StorePlace;

/// Measures them again and again, in turns with workflows.
pub(super) struct LimitsBench {
    in_flight: u32,
    /// What is written to the disk; nothing where the store is a database, whose disk is out of reach.
    bytes: Option<StepBytes>,
    store: Duration,
    /// One store for all rounds: it grows old together with the engine's.
    store_alone: StoreAlone,
}

impl LimitsBench {
    pub(super) fn open(
        setup: &Setup<'_>,
        place: &StorePlace,
        in_flight: u32,
        payload_bytes: usize,
    ) -> anyhow::Result<Self> {
        let seconds = setup.arguments.seconds as f64;
        let bytes = match place {
            StorePlace::Directory(_) => Some(StepBytes::of(payload_bytes)?),
            StorePlace::Schema { .. } => None,
        };
        Ok(Self {
            in_flight,
            bytes,
            store: Duration::from_secs_f64((seconds / 10.0).clamp(0.3, 6.0)),
            store_alone: StoreAlone::open(place, payload_bytes, in_flight as usize)?,
        })
    }

    pub(super) fn measure(&mut self, group: f64, setup: &Setup<'_>) -> anyhow::Result<Limits> {
        let group = (group.round() as usize).max(1);
        let (in_flight, progress) = (self.in_flight, &setup.progress);
        let disk = match &self.bytes {
            Some(bytes) => {
                progress.say(&format!("{in_flight} in flight: the disk alone"));
                let (place, length) = (setup.place.fresh("disk")?, setup.disk_length());
                Some(DiskSamples::measure(&place, bytes, group, length)?)
            }
            None => None,
        };
        progress.say(&format!("{in_flight} in flight: the store alone"));
        let store = self.store_alone.measure(group, self.store)?;
        Ok(Limits { disk, store })
    }
}

/// What was measured.
#[derive(Clone)]
pub(super) struct Limits {
    pub(super) disk: Option<DiskSamples>,
    pub(super) store: StoreSamples,
}

impl Limits {
    /// These samples and those.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        if let (Some(all), Some(other)) = (&mut all.disk, &other.disk) {
            all.add(other);
        }
        all.store.add(&other.store);
        all
    }
}
