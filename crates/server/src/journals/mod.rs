//! The journals of runs as streams.
//!
//! Clients read them like their own streams, in one of three views. They may append events and
//! answers, which take the same path as those of the workflow API. Everything else is reserved to
//! the engine.

mod address;
mod append;
mod appended;
mod feed;
mod request;
mod views;

pub(crate) use feed::{dispatch as dispatch_feed, renderer as feed_renderer};
pub(crate) use request::Journals;
pub(crate) use views::{is_secret, without_origin};

/// Returns the numbers of events and answers in an append. `None` if the body is rejected.
#[cfg(test)]
pub(crate) fn fuzzed(body: &[u8]) -> Option<(usize, usize)> {
    let records = appended::parse(body).ok()?;
    let is_event = |record: &&appended::Appended| matches!(record, appended::Appended::Event(_));
    let events = records.iter().filter(is_event).count();
    Some((events, records.len() - events))
}
