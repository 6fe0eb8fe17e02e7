//! The limits of the machine: the disk and the store without workflows, in groups as large as the
//! engine's batches.

use std::time::Duration;

use crate::disk_limits::{DiskSamples, StepBytes};
use crate::setup::Setup;
use crate::store_alone::{StoreAlone, StoreSamples};
use crate::store_location::StoreLocation;

/// Measures the limits repeatedly, alternating with workflows.
pub(crate) struct LimitProbe {
    in_flight: u32,
    /// The bytes to write to the disk. `None` for a database, whose disk may be on another machine.
    bytes: Option<StepBytes>,
    /// Duration of one measurement of the store.
    store_length: Duration,
    /// Used in all rounds, so that it grows as the engine's store does.
    store_alone: StoreAlone,
}

impl LimitProbe {
    pub(crate) fn open(
        setup: &Setup<'_>,
        location: &StoreLocation,
        in_flight: u32,
        payload_bytes: usize,
    ) -> anyhow::Result<Self> {
        let seconds = setup.arguments.seconds as f64;
        let bytes = match location {
            StoreLocation::Directory(_) => Some(StepBytes::of(payload_bytes)?),
            StoreLocation::Schema { .. } => None,
        };
        Ok(Self {
            in_flight,
            bytes,
            store_length: Duration::from_secs_f64((seconds / 10.0).clamp(0.3, 6.0)),
            store_alone: StoreAlone::open(location, payload_bytes, in_flight as usize)?,
        })
    }

    pub(crate) fn measure(&mut self, group: f64, setup: &Setup<'_>) -> anyhow::Result<Limits> {
        let group = (group.round() as usize).max(1);
        let (in_flight, progress) = (self.in_flight, &setup.progress);
        let disk = match &self.bytes {
            Some(bytes) => {
                progress.stage(&format!("{in_flight} in flight: measuring the disk"));
                let (directory, length) = (setup.scratch.fresh("disk")?, setup.disk_length());
                Some(DiskSamples::measure(&directory, bytes, group, length)?)
            }
            None => None,
        };
        progress.stage(&format!("{in_flight} in flight: measuring the store"));
        let store = self.store_alone.measure(group, self.store_length)?;
        Ok(Limits { disk, store })
    }
}

#[derive(Clone)]
pub(crate) struct Limits {
    pub(crate) disk: Option<DiskSamples>,
    pub(crate) store: StoreSamples,
}

impl Limits {
    /// Combines the samples of two measurements.
    pub(crate) fn combined_with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        if let (Some(all), Some(other)) = (&mut all.disk, &other.disk) {
            all.add(other);
        }
        all.store.add(&other.store);
        all
    }
}
