//! Views of a journal. A view is a function of one record and the immutable properties of its run, so
//! that readers can begin anywhere and all views have the same offsets.

mod change;
mod client;
pub(super) mod full;
mod lifecycle;
mod rows;
mod state;

pub(crate) use full::is_secret;

use std::sync::Arc;

use everstep_engine::streams::Render;
use everstep_model::Entry;
use everstep_protocol::access::View;
use everstep_store::RunRow;

/// Returns the function that renders the records of a run in a view.
pub(super) fn render(view: View, run: &RunRow) -> Render {
    let run = run.clone();
    match view {
        View::Full => Arc::new(full::render),
        View::State => Arc::new(move |entry: &Entry| state::render(&run, entry)),
        View::Client => Arc::new(move |entry: &Entry| client::render(&run, entry)),
    }
}
