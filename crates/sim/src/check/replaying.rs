//! Invariants 7 and 12: a journal is complete. Replayed against the same code it fits and leads to
//! the recorded end.

use std::fmt::Display;

use everstep::testing::{Recording, replay_check_function};
use everstep_canonical::Scenario;
use everstep_model::Entry;

use crate::observed::{Stream, Violation};
use crate::program::Op;
use crate::workload::{Env, RANDOM, run_program};

/// Replays a journal of a random program.
pub(super) fn check(stream: &Stream) -> Option<Violation> {
    stream
        .creation()
        .filter(|created| created.workflow.as_str() == RANDOM)?;
    let code = |ctx, program: Vec<Op>| run_program(ctx, program, Env::default());
    let replayed = replay_check_function(RANDOM, code, recording(stream)?);
    violation(stream, &replayed.err()?)
}

/// Replays a journal of a canonical workflow.
pub(super) fn check_canonical(stream: &Stream, scenario: &Scenario) -> Option<Violation> {
    let workflow = stream.creation()?.workflow.as_str();
    let replayed = scenario.replay(workflow, recording(stream)?);
    violation(stream, &replayed.err()?)
}

fn recording(stream: &Stream) -> Option<Recording> {
    let (run, _) = stream.run.as_ref()?;
    let journal: Vec<Entry> = stream.visible().cloned().collect();
    Recording::new(journal).of_run(run.as_str()).ok()
}

fn violation(stream: &Stream, error: &dyn Display) -> Option<Violation> {
    Some(stream.violation(12, format!("it does not replay: {error}")))
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{Completed, Created};
    use everstep_model::{Body, Payload};
    use everstep_store_testkit::sample::{created, record, step};

    use super::*;
    use crate::observed::samples::stream;
    use crate::program::Seen;

    #[test]
    fn a_journal_that_the_code_cannot_write_is_found() {
        let Body::Created(created) = created().body else {
            unreachable!("it is the first record");
        };
        let program = vec![Op::Note];
        let created = Created {
            workflow: everstep_store_testkit::sample::name(RANDOM),
            input: Payload::from_value(&program).unwrap(),
            ..*created
        };
        let end = |seen: &[Seen]| {
            record(Completed {
                result: Payload::from_value(seen).unwrap(),
                abandoned: Vec::new(),
            })
        };
        let mut other = stream("a", vec![step("s"), end(&[Seen::Nothing])]);
        other.entries[0].record = record(created);
        let found = check(&other);
        assert_eq!(found.map(|violation| violation.invariant), Some(12));
    }
}
