//! Entity tags of reads, and cursors, which change over time and with every response, so that
//! caches between server and client do not serve the same live response forever.

use std::time::Duration;

use axum::http::{HeaderMap, header};
use everstep_engine::streams::{Chunk, StreamInfo};
use everstep_model::{Offset, Timestamp};

/// The epoch of cursors: 2024-10-09T00:00:00Z.
const EPOCH_MILLIS: u64 = 1_728_432_000_000;
const INTERVAL: Duration = Duration::from_secs(20);
/// The maximum by which the cursor of a client that is ahead is advanced, in seconds.
const JITTER_SECONDS: u64 = 3_600;

/// Returns the next cursor for a client that sent `given`. `random` is any number.
pub(crate) fn cursor(now: Timestamp, given: Option<u64>, random: u64) -> u64 {
    let since = now.as_millis().saturating_sub(EPOCH_MILLIS);
    let current = since / INTERVAL.as_secs() / 1_000;
    match given {
        Some(given) if given >= current => {
            let seconds = 1 + random % JITTER_SECONDS;
            given.saturating_add(seconds.div_ceil(INTERVAL.as_secs()))
        }
        Some(_) | None => current,
    }
}

/// Returns the tag of a read: the stream, the range of offsets, and whether the stream ended. The
/// stream number distinguishes streams that had the same path one after the other. The tag of a
/// journal identifies the view too.
pub(crate) fn etag(info: &StreamInfo, view: Option<&str>, from: Offset, chunk: &Chunk) -> String {
    let end = match (chunk.closed, chunk.up_to_date) {
        (true, _) => "c",
        (false, true) => "u",
        (false, false) => "p",
    };
    let view = view.unwrap_or_default();
    format!("\"{}{view}.{}.{}.{end}\"", info.number, from, chunk.next)
}

/// Returns whether the client already has the response with this tag.
pub(crate) fn matches(headers: &HeaderMap, etag: &str) -> bool {
    let given = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut given = given.filter_map(|value| value.to_str().ok());
    given.any(|value| {
        let mut tags = value.split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_always_advances() {
        let now = Timestamp::from_millis(EPOCH_MILLIS + 45_000);
        assert_eq!(cursor(now, None, 7), 2);
        assert_eq!(cursor(now, Some(1), 7), 2);
        for random in [0, 1, 19, 20, 3_599, u64::MAX] {
            let next = cursor(now, Some(2), random);
            assert!((3..=182).contains(&next), "{next}");
        }
        assert_eq!(cursor(now, Some(u64::MAX), 1), u64::MAX);
    }
}
