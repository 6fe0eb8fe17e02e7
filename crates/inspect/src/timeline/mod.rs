//! The journal as an audit trail: what happened, when, on whose request, how long it took, and with
//! which outcome.
//!
//! There is one line per record, and one for every gap that compaction left. A line repeats its
//! record: if two records compete, both have a line, and the overview decides which one counts.
//! Every sequence of records has a timeline. Payloads of sensitive steps are never included.

mod build;
mod describe;
mod duration;
mod elapsed;
mod gaps;
mod kinds;
mod line;
mod reader;
mod sensitive;
#[cfg(test)]
mod tests;

pub use build::timeline;
pub use line::{Line, Outcome, to_json_lines};
pub use reader::TimelineReader;
