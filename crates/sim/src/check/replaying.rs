//! Invariants 7 and 12: a journal is complete. Replayed against the same code it fits and leads to
//! the recorded end.

use everstep::testing::{Recording, replay_check_function};
use everstep_canonical::Scenario;
use everstep_model::{Body, Entry};

use crate::observed::{Stream, Violation};
use crate::program::Op;
use crate::workload::{Env, RANDOM, run_program};

/// Replays a journal of a random program.
pub(super) fn check(stream: &Stream) -> Option<Violation> {
    let is_random = match stream.entries.first().map(|entry| &entry.record.body) {
        Some(Body::Created(created)) => created.workflow.as_str() == RANDOM,
        _ => false,
    };
    let (run, _) = stream.run.as_ref().filter(|_| is_random)?;
    let journal: Vec<Entry> = stream.visible().cloned().collect();
    let recording = Recording::new(journal).of_run(run.as_str()).ok()?;
    let code = |ctx, program: Vec<Op>| run_program(ctx, program, Env::default());
    let replayed = replay_check_function(RANDOM, code, recording);
    let error = replayed.err()?;
    let what = format!("{} does not replay: {error}", stream.label());
    Some(Violation::of(12, what))
}

/// Replays a journal of a canonical workflow.
pub(super) fn check_canonical(stream: &Stream, scenario: &Scenario) -> Option<Violation> {
    let Some(Body::Created(created)) = stream.entries.first().map(|entry| &entry.record.body)
    else {
        return None;
    };
    let (run, _) = stream.run.as_ref()?;
    let journal: Vec<Entry> = stream.visible().cloned().collect();
    let recording = Recording::new(journal).of_run(run.as_str()).ok()?;
    let error = scenario
        .replay(created.workflow.as_str(), recording)
        .err()?;
    let what = format!("{} does not replay: {error}", stream.label());
    Some(Violation::of(12, what))
}

#[cfg(test)]
mod tests {
    use everstep_model::Payload;
    use everstep_model::record::{Completed, Created};
    use everstep_store_testkit::sample::{created, record, step};

    use super::*;
    use crate::observed::samples::stream;
    use crate::program::Seen;

    #[test]
    fn a_journal_that_the_code_would_not_write_is_found() {
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
