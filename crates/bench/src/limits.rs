//! The limits of the machine: the disk and the store without workflows, in groups as large as the
//! engine's batches.

use std::time::Duration;

use crate::disk_limits::DiskSamples;
use crate::setup::Setup;
use crate::store_alone::{StoreAlone, StoreSamples};
use crate::store_location::StoreLocation;

/// Measures the limits repeatedly, alternating with workflows.
pub(crate) struct LimitProbe<'a> {
    setup: &'a Setup<'a>,
    payload_bytes: usize,
    /// Whether the store is a database, whose disk may be on another machine.
    is_database: bool,
    /// Used in all rounds, so that it grows as the engine's store does.
    store_alone: StoreAlone,
}

impl<'a> LimitProbe<'a> {
    pub(crate) fn open(
        setup: &'a Setup<'_>,
        location: &StoreLocation,
        in_flight: u32,
        payload_bytes: usize,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            setup,
            payload_bytes,
            is_database: matches!(location, StoreLocation::Schema { .. }),
            store_alone: StoreAlone::open(location, payload_bytes, in_flight as usize)?,
        })
    }

    pub(crate) fn measure(&mut self, group: f64) -> anyhow::Result<Limits> {
        let (setup, group) = (self.setup, (group.round() as usize).max(1));
        let disk = match self.is_database {
            true => None,
            false => Some(setup.measure_disk(self.payload_bytes, Some(group))?),
        };
        setup.stage("measuring the store");
        let seconds = (setup.arguments.seconds as f64 / 10.0).clamp(0.3, 6.0);
        let store = self
            .store_alone
            .measure(group, Duration::from_secs_f64(seconds))?;
        Ok(Limits { disk, store })
    }
}

#[derive(Clone)]
pub(crate) struct Limits {
    pub(crate) disk: Option<DiskSamples>,
    pub(crate) store: StoreSamples,
}

impl Limits {
    pub(crate) fn combined_with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        if let (Some(all), Some(other)) = (&mut all.disk, &other.disk) {
            all.add(other);
        }
        all.store.add(&other.store);
        all
    }
}
