//! Appends of clients to journals.

use crate::journals::fuzzed;

#[test]
fn an_append_to_a_journal_holds_events_and_answers_or_is_rejected() {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), "journal_append", |bytes| {
        let Some((events, answers)) = fuzzed(bytes) else {
            return String::new();
        };
        assert!(events + answers > 0, "an append holds something");
        format!("{} {}", events.min(3), answers.min(3))
    });
}
