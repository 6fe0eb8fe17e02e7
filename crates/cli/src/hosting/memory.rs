//! The memory that this process may use, and the default that follows from it.

use std::fs;

use crate::config::Config;

/// The part of the memory that the journal of one run may take.
const PART_OF_MEMORY: u64 = 4;
const DEFAULT_MAX: u64 = 1024 * 1024 * 1024;

/// Returns the size of a journal above which its run is not executed.
pub(super) fn journal_bytes_max(config: &Config) -> anyhow::Result<u64> {
    match config.text("journal_bytes_max") {
        Some(_) => config.parsed("journal_bytes_max"),
        None => Ok(default_journal_bytes_max()),
    }
}

pub(super) fn default_journal_bytes_max() -> u64 {
    let memory = memory_bytes().unwrap_or(u64::MAX);
    (memory / PART_OF_MEMORY).min(DEFAULT_MAX)
}

/// Returns the smallest limit that the system sets. `None` if it does not say.
fn memory_bytes() -> Option<u64> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let limits = [
        total_of(&read("/proc/meminfo")),
        address_space_of(&read("/proc/self/limits")),
        read("/sys/fs/cgroup/memory.max").trim().parse().ok(),
        read("/sys/fs/cgroup/memory/memory.limit_in_bytes")
            .trim()
            .parse()
            .ok(),
    ];
    limits.into_iter().flatten().min()
}

fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|it| it.strip_prefix("MemTotal:"));
    let kib: u64 = line?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the soft limit of the address space.
fn address_space_of(limits: &str) -> Option<u64> {
    let mut lines = limits.lines();
    let line = lines.find_map(|it| it.strip_prefix("Max address space"));
    line?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_the_system_are_read() {
        let meminfo = "MemTotal:       16316408 kB\nMemFree:         1234 kB\n";
        assert_eq!(total_of(meminfo), Some(16_316_408 * 1024));
        let limits = |soft| {
            format!(
                "Limit      Soft Limit  Hard Limit  Units\nMax address space         {soft}   unlimited  bytes\n"
            )
        };
        let limited = limits("1073741824");
        assert_eq!(address_space_of(&limited), Some(1_073_741_824));
        assert_eq!(address_space_of(&limits("unlimited")), None);
        assert!(default_journal_bytes_max() <= DEFAULT_MAX);
    }
}
