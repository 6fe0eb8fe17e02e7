//! Hints as the text of notifications.

use std::collections::HashSet;

use everstep_model::{StreamNumber, Timestamp};
use everstep_store::Hint;

/// The maximal length of a notification; the database accepts less than 8,000 bytes.
const PAYLOAD_MAX: usize = 7_900;

/// Encodes hints, without duplicates, in as few notifications as possible.
pub(crate) fn payloads(me: &str, hints: &[Hint]) -> Vec<String> {
    let mut encoded = HashSet::new();
    let mut payloads: Vec<String> = Vec::new();
    for hint in hints {
        let text = encode(*hint);
        if !encoded.insert(text.clone()) {
            continue;
        }
        match payloads.last_mut() {
            Some(last) if last.len() + 1 + text.len() <= PAYLOAD_MAX => {
                last.push(' ');
                last.push_str(&text);
            }
            _ => payloads.push(format!("{me} {text}")),
        }
    }
    payloads
}

fn encode(hint: Hint) -> String {
    match hint {
        Hint::Grew(stream) => format!("g{stream}"),
        Hint::Advanced(stream) => format!("a{stream}"),
        Hint::Closed(stream) => format!("c{stream}"),
        Hint::Ready(stream) => format!("r{stream}"),
        Hint::Timer(due) => format!("t{}", due.as_millis()),
        Hint::Outbox(stream) => format!("o{stream}"),
    }
}

/// Decodes the hints of a notification, unless this node sent it.
pub(crate) fn hints<'a>(me: &str, payload: &'a str) -> impl Iterator<Item = Hint> + use<'a> {
    let (sender, hints) = payload.split_once(' ').unwrap_or((payload, ""));
    let foreign = if sender == me { "" } else { hints };
    foreign.split(' ').filter_map(decode)
}

/// Decodes a hint. Kinds that a later release added are ignored.
fn decode(text: &str) -> Option<Hint> {
    let number = text.get(1..)?.parse().ok()?;
    Some(match text.as_bytes().first()? {
        b'g' => Hint::Grew(StreamNumber(number)),
        b'a' => Hint::Advanced(StreamNumber(number)),
        b'c' => Hint::Closed(StreamNumber(number)),
        b'r' => Hint::Ready(StreamNumber(number)),
        b't' => Hint::Timer(Timestamp::from_millis(number)),
        b'o' => Hint::Outbox(StreamNumber(number)),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "hints_tests.rs"]
mod tests;
