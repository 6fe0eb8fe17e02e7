//! The workloads, one file each. Each gives its cases; a new one is a file here, a word on the command line and a line below.

mod again;
mod event;
mod fanout;
mod first_step;
mod http;
mod load;
mod long_loop;
mod recovery;
mod remote;
mod replay;
mod round_of_steps;
mod served;
mod sleepers;
mod stream;
mod stream_appends;
mod stream_readers;
mod ten_steps;
mod timers;

use std::ops::Range;

use super::arguments::Workload;
use super::case::Case;
use super::setup::Setup;

pub(super) use recovery::be_at_work;
pub(super) use sleepers::attend;

/// How many runs are started side by side, where very many are.
const AT_ONCE: u64 = 1_024;
/// Steps of one run.
pub(super) const STEPS_PER_RUN: u64 = 10;

pub(super) fn measure(workload: Workload, setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    match workload {
        Workload::Seq10 => ten_steps::one_at_a_time(setup),
        Workload::Throughput => ten_steps::many_at_once(setup),
        Workload::Payload => ten_steps::of_many_sizes(setup),
        Workload::Start => first_step::measure(setup),
        Workload::Event => event::measure(setup),
        Workload::Fanout => fanout::measure(setup),
        Workload::Replay => replay::measure(setup),
        Workload::Timers => timers::measure(setup),
        Workload::Recovery => recovery::measure(setup),
        Workload::Idle => sleepers::measure_idle(setup),
        Workload::Open => sleepers::measure_open(setup),
        Workload::Stream => stream::measure(setup),
        Workload::Remote => ten_steps::by_a_worker(setup),
        Workload::Postgres => ten_steps::on_a_database(setup),
        Workload::Loop => long_loop::measure(setup),
    }
}

/// The numbers of so many runs, in the batches in which they are started.
fn batches(runs: u64) -> impl Iterator<Item = Range<u64>> {
    let begins = (0..runs).step_by(AT_ONCE as usize);
    begins.map(move |from| from..runs.min(from + AT_ONCE))
}
