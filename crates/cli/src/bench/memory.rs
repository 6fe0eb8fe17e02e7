//! How much memory this process has.

/// The memory that is not swapped out, in bytes, where the system tells.
pub(super) fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) * 1_024.0
}
