//! Memory usage of this process.

/// Returns the resident memory in bytes, or 0 on systems without `/proc`.
pub(crate) fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) * 1_024.0
}
