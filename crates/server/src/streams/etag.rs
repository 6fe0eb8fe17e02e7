//! Entity tags of reads: which stream, from where to where, and whether it ended there.

use axum::http::{HeaderMap, header};
use everstep_engine::streams::{Chunk, StreamInfo};
use everstep_model::Offset;
use everstep_protocol::access::View;

/// The tag of what was read. The number tells streams apart that had the same path one after the other; of a journal, the
/// view is part of it.
pub(crate) fn etag(info: &StreamInfo, view: Option<View>, from: Offset, chunk: &Chunk) -> String {
    let end = match (chunk.closed, chunk.up_to_date) {
        (true, _) => "c",
        (false, true) => "u",
        (false, false) => "p",
    };
    let view = view.map_or("", View::as_str);
    format!("\"{}{view}.{}.{}.{end}\"", info.number, from, chunk.next)
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
