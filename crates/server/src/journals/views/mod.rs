//! Views of a journal. The full view renders each record on its own. The other views fold the
//! records, because what a run is doing follows from all of them; a reader that begins at any
//! offset receives the same messages as one that began earlier. All views have the same offsets.

mod audience;
mod change;
mod event_rows;
pub(super) mod full;
mod open_rows;
mod row_key;
mod rows;
mod step_rows;
#[cfg(test)]
#[allow(
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]
mod tests;
mod workflow_row;

pub(super) use audience::Audience;
pub(crate) use full::is_secret;
pub(crate) use workflow_row::without_origin;

use everstep_engine::streams::JournalView;
use everstep_protocol::access::View;
use everstep_store::RunRow;

/// Returns the view of a run's journal for these readers.
pub(super) fn of(audience: &Audience, run: &RunRow) -> Box<dyn JournalView> {
    match audience.view {
        View::Full => Box::new(full::FullView),
        View::State | View::Client => Box::new(rows::Rows::new(audience.clone(), run.clone())),
    }
}
