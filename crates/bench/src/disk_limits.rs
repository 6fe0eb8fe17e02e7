//! The limits of the disk: single small appends with a sync each, and a log that syncs in groups.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use everstep::Name;
use everstep::journal::Location;
use everstep_model::{Frame, FrameHeader};

use crate::payload::RandomTexts;
use crate::statistics::SlicedRate;
use crate::ten_step_run::step_records;

/// The bytes that one step adds to a journal, in the store's frame format.
pub(crate) struct StepBytes(Vec<u8>);

impl StepBytes {
    pub(crate) fn of(payload_bytes: usize) -> anyhow::Result<Self> {
        let texts = RandomTexts::of_json_bytes(payload_bytes);
        let records = step_records(Location::root(Name::new("step-0")?, 0), &texts)?;
        Ok(Self(Frame::encode(&FrameHeader::default(), &records)))
    }
}

#[derive(Clone, Default)]
pub(crate) struct DiskSamples {
    /// Duration of each append with its fdatasync.
    pub(crate) fdatasync_us: Vec<f64>,
    /// Records per second of the log, one value per time slice.
    pub(crate) log_per_second: Vec<f64>,
}

impl DiskSamples {
    /// Measures single syncs and the log, each for `length`.
    pub(crate) fn measure(
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

    /// Measures single syncs only.
    pub(crate) fn measure_syncs(
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

    pub(crate) fn add(&mut self, other: &Self) {
        self.fdatasync_us.extend(&other.fdatasync_us);
        self.log_per_second.extend(&other.log_per_second);
    }
}

/// Appends groups of records to a file, with one write and one fdatasync per group.
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
        // Every log has to copy its records, so copying counts.
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
