//! Batches of runs that are started together.

use std::ops::Range;

/// How many runs one batch starts.
const BATCH_RUNS: u64 = 1_024;

/// Divides the numbers `0..runs` into the batches in which the runs are started.
pub(crate) fn batches(runs: u64) -> impl Iterator<Item = Range<u64>> {
    let begins = (0..runs).step_by(BATCH_RUNS as usize);
    begins.map(move |from| from..runs.min(from + BATCH_RUNS))
}
