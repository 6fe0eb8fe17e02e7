//! What clients append to journals: it is an event or an answer, or refused.

use crate::journals::fuzzed;

#[test]
fn what_is_appended_to_a_journal_is_one_of_two_kinds_or_refused() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "journal_append", |bytes| {
        let Some((events, answers)) = fuzzed(bytes) else {
            return String::new();
        };
        assert!(events + answers > 0, "an append holds something");
        format!("{} {}", events.min(3), answers.min(3))
    });
}
