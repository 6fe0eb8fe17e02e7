//! Fuzz targets (`everstep-fuzz`), one file per decoder: arbitrary input is decoded or refused, and
//! decoded values round-trip.

mod duration;
mod frame;
mod journal_line;
mod location;
mod name;
mod offset;
mod payload;
mod run_id;
mod time;
mod words;

fn check<S: std::hash::Hash>(target: &str, seen: impl Fn(&[u8]) -> S) {
    everstep_fuzz::check(env!("CARGO_MANIFEST_DIR"), target, seen);
}

fn check_text<S: std::hash::Hash>(target: &str, seen: impl Fn(&str) -> S) {
    everstep_fuzz::check_text(env!("CARGO_MANIFEST_DIR"), target, seen);
}
