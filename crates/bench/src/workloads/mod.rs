//! The workloads, one file each. A new workload is a file here, a variant of `Workload` and a line
//! in `measure`.

mod batches;
mod event;
mod fanout;
mod first_step;
mod http;
mod load;
mod local_server;
mod long_loop;
mod recovery;
mod remote_worker;
mod repeated;
mod replay;
mod round_of_steps;
mod sleepers;
mod stream;
mod stream_appends;
mod stream_readers;
mod ten_steps;
mod timers;

use crate::arguments::Workload;
use crate::case::Case;
use crate::setup::Setup;

pub(crate) use recovery::run_worker as run_recovery_worker;
pub(crate) use sleepers::run_idle_process;

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
