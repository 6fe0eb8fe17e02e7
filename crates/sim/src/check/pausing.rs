//! Invariant 25: no attempt starts while a run is paused. Attempts in progress may end, and timers
//! fire into the journal.

use everstep_model::Body;

use crate::observed::{Stream, Violation};

pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut is_paused = false;
    let mut found = Vec::new();
    for entry in stream.entries.iter().skip(stream.copied) {
        match &entry.record.body {
            Body::Paused(_) => is_paused = true,
            // A pause does not delay the end of a run.
            Body::ResumeRequested(_)
            | Body::Resumed(_)
            | Body::CancelRequested(_)
            | Body::ForcedFailure(_)
            | Body::DeadlinePassed(_) => is_paused = false,
            Body::StepStarted(started) if is_paused => {
                let what = format!("{} began while it was paused", started.location);
                found.push(stream.violation(25, what));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{Paused, ResumeRequested, StepStarted};
    use everstep_store_testkit::sample::location;

    use super::*;
    use crate::observed::samples::{FINE, broken, record, stream};

    #[test]
    fn a_step_that_begins_in_a_paused_run_is_found() {
        let paused = || record(Paused { reason: None });
        let resumed = || record(ResumeRequested { by: None });
        let started = || {
            record(StepStarted {
                location: location("s:0"),
                attempt: 1,
                options: None,
            })
        };
        let fine = stream("a", vec![paused(), resumed(), started()]);
        assert_eq!(broken(&check(&fine)), FINE);
        assert_eq!(
            broken(&check(&stream("a", vec![paused(), started()]))),
            [25]
        );
    }
}
