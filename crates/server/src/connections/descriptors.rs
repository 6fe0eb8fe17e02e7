//! File descriptors of the process: raises their limit, and keeps some free of connections. Without
//! a free descriptor the store cannot write its tables.

/// The descriptors that connections leave free: for the files of the store, of which the embedded
/// store keeps 256 open, for the database, and for calls of webhooks.
const RESERVED: u64 = 384;

/// Raises the limit of descriptors as far as the process may. Returns the maximum number of
/// connections, which is lower than the configured one if the limit is low.
pub(super) fn connections_max(configured: usize) -> usize {
    let Some(limit) = raise_limit() else {
        return configured;
    };
    let max = permitted(limit, configured);
    if max < configured {
        tracing::warn!(
            limit,
            max,
            configured,
            "the limit of file descriptors lowers the number of connections"
        );
    }
    max
}

fn permitted(limit: u64, configured: usize) -> usize {
    let free = limit.saturating_sub(RESERVED).max(limit / 4);
    usize::try_from(free).map_or(configured, |free| free.min(configured).max(1))
}

/// Returns the limit, or `None` if there is none.
#[cfg(unix)]
fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Some systems permit less than the hard limit. Then the limit stays as it is.
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current
}

/// Sockets are not file descriptors.
#[cfg(not(unix))]
fn raise_limit() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_reserved_unless_the_limit_is_very_low() {
        for (limit, max) in [
            (1_000_000, 10_000),
            (4_096, 3_712),
            (1_024, 640),
            (256, 64),
            (1, 1),
        ] {
            assert_eq!(permitted(limit, 10_000), max, "{limit}");
        }
        assert_eq!(permitted(1_024, 100), 100);
    }
}
