//! Entity tags of reads: which stream, from where to where, and whether it ended there.

use axum::http::{HeaderMap, header};
use everstep_engine::streams::{Chunk, StreamInfo};
use everstep_model::Offset;

/// The tag of what was read. The number tells streams apart that had the same path one after the other.
pub(crate) fn etag(info: &StreamInfo, from: Offset, chunk: &Chunk) -> String {
    let end = match (chunk.closed, chunk.up_to_date) {
        (true, _) => "c",
        (false, true) => "u",
        (false, false) => "p",
    };
    format!("\"{}.{}.{}.{end}\"", info.number, from, chunk.next)
}

/// Whether the client has it already.
pub(crate) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let given = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut given = given.filter_map(|value| value.to_str().ok());
    given.any(|value| {
        let mut tags = value.split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
    })
}
