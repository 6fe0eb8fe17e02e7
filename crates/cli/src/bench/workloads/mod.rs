//! The workloads, one file each. Each gives its cases; a new one is a file here, a word on the command line and a line below.

mod again;
mod event;
mod first_step;
mod load;
mod long_loop;
mod remote;
mod ten_steps;

use super::arguments::Workload;
use super::case::Case;
use super::setup::Setup;

/// Steps of one run.
pub(super) const STEPS_PER_RUN: u64 = 10;

pub(super) fn measure(workload: Workload, setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    match workload {
        Workload::Seq10 => ten_steps::one_at_a_time(setup),
        Workload::Throughput => ten_steps::many_at_once(setup),
        Workload::Start => first_step::measure(setup),
        Workload::Event => event::measure(setup),
        Workload::Loop => long_loop::measure(setup),
    }
}
