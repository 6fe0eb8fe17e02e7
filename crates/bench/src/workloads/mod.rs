//! The workloads, one file each. A new workload is a file here, a variant of `Workload` and a line
//! in `measure`.

mod event;
mod fanout;
mod first_step;
mod http;
mod load;
mod local_server;
mod long_loop;
mod recovery;
mod repeated;
mod replay;
mod resuming;
mod round_of_steps;
mod sleepers;
mod stream;
mod stream_appends;
mod stream_readers;
mod ten_steps;
mod timers;

use std::ops::Range;

use crate::arguments::Workload;
use crate::case::Case;
use crate::setup::Setup;

pub(crate) use recovery::run_worker as run_recovery_worker;
pub(crate) use sleepers::run_idle_process;

/// How many runs one batch starts.
const BATCH_RUNS: u64 = 1_024;

/// Divides the numbers `0..runs` into the batches in which the runs are started.
fn batches(runs: u64) -> impl Iterator<Item = Range<u64>> {
    let begins = (0..runs).step_by(BATCH_RUNS as usize);
    begins.map(move |from| from..runs.min(from + BATCH_RUNS))
}

pub(crate) fn measure(workload: Workload, setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    match workload {
        Workload::Seq10 => ten_steps::one_at_a_time(setup),
        Workload::Throughput => ten_steps::many_at_once(setup),
        Workload::Payload => ten_steps::payload_sizes(setup),
        Workload::Start => first_step::measure(setup),
        Workload::Event => event::measure(setup),
        Workload::Fanout => fanout::measure(setup),
        Workload::Replay => replay::measure(setup),
        Workload::Timers => timers::measure(setup),
        Workload::Recovery => recovery::measure(setup),
        Workload::Idle => sleepers::measure_idle(setup),
        Workload::Open => sleepers::measure_open(setup),
        Workload::Stream => stream::measure(setup),
        Workload::Remote => ten_steps::remote_worker(setup),
        Workload::Postgres => ten_steps::postgres(setup),
        Workload::Loop => long_loop::measure(setup),
    }
}
