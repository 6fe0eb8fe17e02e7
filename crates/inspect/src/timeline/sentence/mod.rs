//! Records as plain sentences, on one line each and without payloads.
//!
//! Each kind of record tells its own; they are grouped by theme. The parts of a sentence that may be missing are in
//! `phrase.rs`.

mod life;
mod messages;
mod paths;
mod phrase;
mod requests;
mod steps;
mod waits;

use everstep_model::{Record, match_record};

use super::spans::Lasted;

/// What the record says. Text that people gave may hold anything; here it cannot break the line.
pub(super) fn of(record: &Record, lasted: Lasted) -> String {
    let sentence = match_record!(&record.body, body => body.tell(lasted));
    sentence.replace(char::is_control, " ")
}

/// A record that can be told.
trait Tell {
    fn tell(&self, lasted: Lasted) -> String;
}
