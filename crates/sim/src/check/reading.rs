//! Invariants 1, 4 and 18: at the end the store contains everything that was acknowledged.

use everstep_store::{ReadRequest, Store as _};
use futures_util::FutureExt as _;

use crate::cluster::World;
use crate::observed::Violation;

/// Checks that the store contains everything that was acknowledged, and nothing else.
pub(super) fn check_store(world: &World) -> Vec<Violation> {
    let journals = world.journals();
    let mut found = Vec::new();
    for stream in journals.streams() {
        let request = ReadRequest {
            stream: stream.number,
            from: everstep_model::RecordNumber(0),
            limit: usize::MAX,
            bytes: usize::MAX,
        };
        let page = world.store.read(request).now_or_never();
        let page = page.and_then(Result::ok).flatten();
        if let Some(violation) = journals.check_read(&request, page.as_ref()) {
            found.push(Violation::of(4, violation.what));
        }
    }
    found
}
