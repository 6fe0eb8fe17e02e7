//! Entity tags of reads: the stream, the range of offsets, and whether the stream ended.

use axum::http::{HeaderMap, header};
use everstep_engine::streams::{Chunk, StreamInfo};
use everstep_model::Offset;
use everstep_protocol::access::View;

/// Returns the tag of a read. The stream number distinguishes streams that had the same path one
/// after the other. The tag of a journal includes the view.
pub(crate) fn etag(info: &StreamInfo, view: Option<View>, from: Offset, chunk: &Chunk) -> String {
    let end = match (chunk.closed, chunk.up_to_date) {
        (true, _) => "c",
        (false, true) => "u",
        (false, false) => "p",
    };
    let view = view.map_or("", View::as_str);
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
