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

/// Returns the bytes that one step adds to a journal, in the store's frame format.
pub(crate) fn step_bytes(payload_bytes: usize) -> anyhow::Result<Vec<u8>> {
    let texts = RandomTexts::of_json_bytes(payload_bytes);
    let records = step_records(Location::root(Name::new("step-0")?, 0), &texts)?;
    Ok(Frame::encode(&FrameHeader::default(), &records))
}

#[derive(Clone, Default)]
pub(crate) struct DiskSamples {
    /// Duration of each append with its fdatasync.
    pub(crate) fdatasync_us: Vec<f64>,
    /// Records per second of the log, one value per time slice. Empty if it was not measured.
    pub(crate) log_per_second: Vec<f64>,
}

impl DiskSamples {
    pub(crate) fn add(&mut self, other: &Self) {
        self.fdatasync_us.extend(&other.fdatasync_us);
        self.log_per_second.extend(&other.log_per_second);
    }
}

/// Appends single records to a file, with a write and an fdatasync each. Returns their durations in
/// microseconds.
pub(crate) fn bare_syncs(
    folder: &Path,
    step: &[u8],
    length: Duration,
) -> std::io::Result<Vec<f64>> {
    let mut file = File::create(folder.join("appends"))?;
    let mut fdatasync_us = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < length {
        let append = Instant::now();
        file.write_all(step)?;
        file.sync_data()?;
        fdatasync_us.push(append.elapsed().as_secs_f64() * 1e6);
    }
    Ok(fdatasync_us)
}

/// Appends groups of records to a file, with one write and one fdatasync per group. Returns the
/// records per second of each time slice.
pub(crate) fn bare_log(
    folder: &Path,
    step: &[u8],
    group: usize,
    length: Duration,
) -> std::io::Result<Vec<f64>> {
    let mut file = File::create(folder.join("log"))?;
    let mut rate = SlicedRate::default();
    let mut buffer = Vec::with_capacity(step.len() * group);
    let begun = Instant::now();
    while begun.elapsed() < length {
        // Every log has to copy its records, so copying counts.
        let write = Instant::now();
        buffer.clear();
        for _ in 0..group {
            buffer.extend_from_slice(step);
        }
        file.write_all(&buffer)?;
        file.sync_data()?;
        rate.add(group as u64, write.elapsed());
    }
    Ok(rate.into_rates())
}
