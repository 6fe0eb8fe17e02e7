//! Requests of operators: pausing, ending, and forcing an operation to fail.

use everstep_model::record::{ForcedFailure, PauseRequested, Paused};

use super::fold::{Overview, Stamp};
use super::place::{Kind, Place};
use super::views::{EndingView, PauseView};

impl Overview {
    pub(super) fn pause_requested(&mut self, record: &PauseRequested) {
        self.pause
            .get_or_insert_with(|| PauseView::Requested(record.clone()));
    }

    pub(super) fn paused(&mut self, record: &Paused) {
        let request = match &self.pause {
            Some(PauseView::Paused { .. }) => return,
            Some(PauseView::Requested(request)) => Some(request.clone()),
            None => None,
        };
        self.pause = Some(PauseView::Paused {
            request,
            reason: record.reason.clone(),
        });
    }

    /// Closes every open operation, because the run is about to end. Steps in flight still finish.
    pub(super) fn begin_end(&mut self, ending: EndingView) {
        if self.ending.is_none() {
            self.ending = Some(ending);
            self.close_where(|_| true);
        }
    }

    pub(super) fn forced_failure(&mut self, at: Stamp, record: &ForcedFailure) {
        let Some(location) = &record.location else {
            return self.begin_end(EndingView::Forced(record.clone()));
        };
        match self.places.get(location) {
            Some(Place {
                kind: Kind::Other, ..
            }) => self.close_where(|open| open == location),
            Some(Place {
                kind: Kind::Step { .. },
                ..
            })
            | None => self.step_forced_to_fail(at, location, &record.error),
        }
    }
}
