//! Processor time and memory of this process, and further processes of this binary.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use rustix::time::{ClockId, clock_gettime};

/// Measures processor time (user and system) since its creation.
pub(crate) struct CpuTimer {
    clock: ClockId,
    started: Duration,
}

impl CpuTimer {
    /// Measures all threads of this process.
    pub(crate) fn start() -> Self {
        Self::of(ClockId::ProcessCPUTime)
    }

    /// Measures the current thread.
    pub(crate) fn start_for_thread() -> Self {
        Self::of(ClockId::ThreadCPUTime)
    }

    fn of(clock: ClockId) -> Self {
        let started = read(clock);
        Self { clock, started }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        read(self.clock).saturating_sub(self.started)
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// Returns the resident memory in bytes, or 0 on systems without `/proc`.
pub(crate) fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) * 1_024.0
}

/// Returns the command that runs a hidden action of `everstep bench` in a process of its own.
pub(crate) fn bench_process(
    action: &str,
    directory: &Path,
    workers: u32,
) -> anyhow::Result<Command> {
    let binary = std::env::current_exe().context("cannot find the path of this binary")?;
    let mut command = Command::new(binary);
    command.args(["bench", action, "--workers", &workers.to_string()]);
    command.arg("--directory").arg(directory);
    Ok(command)
}
