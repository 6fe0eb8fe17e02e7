//! What the disk can do alone: one small append and sync after the other, and a bare log that syncs whole groups.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use everstep::{Location, Name};
use everstep_model::{Frame, FrameHeader};

use super::payload::Texts;
use super::statistics::SlicedRate;
use super::store_alone;

/// The bytes one step adds to a journal, as the store frames them.
pub(super) struct StepBytes(Vec<u8>);

impl StepBytes {
    /// Of a step whose result has this many bytes.
    pub(super) fn of(payload_bytes: usize) -> anyhow::Result<Self> {
        let texts = Texts::of_json_bytes(payload_bytes);
        let records = store_alone::step_records(Location::root(Name::new("step-0")?, 0), &texts)?;
        Ok(Self(Frame::encode(&FrameHeader::default(), &records)))
    }
}

/// What was measured.
#[derive(Clone, Default)]
pub(super) struct DiskSamples {
    /// Each append and fdatasync, in microseconds.
    pub(super) fdatasync_us: Vec<f64>,
    /// Records a second of the log, slice by slice.
    pub(super) log_per_second: Vec<f64>,
}

impl DiskSamples {
    /// Measures both, each for this long.
    pub(super) fn measure(
        place: &Path,
        step: &StepBytes,
        group: usize,
        length: Duration,
    ) -> std::io::Result<Self> {
        Ok(Self {
            log_per_second: bare_log(place, step, group, length)?,
            ..Self::measure_syncs(place, step, length)?
        })
    }

    /// Measures single syncs alone.
    pub(super) fn measure_syncs(
        place: &Path,
        step: &StepBytes,
        length: Duration,
    ) -> std::io::Result<Self> {
        let mut file = File::create(place.join("appends"))?;
        let mut fdatasync_us = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < length {
            let append = Instant::now();
            file.write_all(&step.0)?;
            file.sync_data()?;
            fdatasync_us.push(append.elapsed().as_secs_f64() * 1e6);
        }
        Ok(Self {
            fdatasync_us,
            log_per_second: Vec::new(),
        })
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.fdatasync_us.extend(&other.fdatasync_us);
        self.log_per_second.extend(&other.log_per_second);
    }
}

/// Writes groups of records to one file, each group with one write and one fdatasync.
fn bare_log(
    place: &Path,
    step: &StepBytes,
    group: usize,
    length: Duration,
) -> std::io::Result<Vec<f64>> {
    let mut file = File::create(place.join("log"))?;
    let mut rate = SlicedRate::default();
    let mut buffer = Vec::with_capacity(step.0.len() * group);
    let begun = Instant::now();
    while begun.elapsed() < length {
        // The copying is part of what any log does.
        let write = Instant::now();
        buffer.clear();
        for _ in 0..group {
            buffer.extend_from_slice(&step.0);
        }
        file.write_all(&buffer)?;
        file.sync_data()?;
        rate.add(group as u64, write.elapsed());
    }
    Ok(rate.into_rates())
}
