//! Hints as the text of notifications.

use std::collections::HashSet;

use everstep_model::{StreamNumber, Timestamp};
use everstep_store::Hint;

/// Bytes of one notification; the database takes 8,000.
const PAYLOAD_MAX: usize = 7_900;

/// Hints as text, each once, in as few notifications as they fit into.
pub(crate) fn payloads(me: &str, hints: &[Hint]) -> Vec<String> {
    let mut said = HashSet::new();
    let mut payloads: Vec<String> = Vec::new();
    for hint in hints {
        let text = written(*hint);
        if !said.insert(text.clone()) {
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

fn written(hint: Hint) -> String {
    match hint {
        Hint::Grew(stream) => format!("g{stream}"),
        Hint::Advanced(stream) => format!("a{stream}"),
        Hint::Closed(stream) => format!("c{stream}"),
        Hint::Ready(stream) => format!("r{stream}"),
        Hint::Timer(due) => format!("t{}", due.as_millis()),
        Hint::Outbox(stream) => format!("o{stream}"),
    }
}

/// The hints of a notification that another node sent.
pub(crate) fn hints<'a>(me: &str, payload: &'a str) -> impl Iterator<Item = Hint> + use<'a> {
    let (sender, hints) = payload.split_once(' ').unwrap_or((payload, ""));
    let foreign = if sender == me { "" } else { hints };
    foreign.split(' ').filter_map(read)
}

/// A hint of a kind that is not known, from a later release, is no hint.
fn read(text: &str) -> Option<Hint> {
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
mod tests {
    use super::*;

    #[test]
    fn hints_come_back_once_and_not_to_their_sender() {
        let sent = [
            Hint::Grew(StreamNumber(7)),
            Hint::Ready(StreamNumber(7)),
            Hint::Grew(StreamNumber(7)),
            Hint::Advanced(StreamNumber(8)),
            Hint::Closed(StreamNumber(9)),
            Hint::Timer(Timestamp::from_millis(1_800_000_000_000)),
            Hint::Outbox(StreamNumber(u64::MAX)),
        ];
        let payloads = payloads("me", &sent);
        assert_eq!(payloads.len(), 1);
        let heard: Vec<Hint> = hints("other", &payloads[0]).collect();
        assert_eq!(heard[..2], sent[..2]);
        assert_eq!(heard[2..], sent[3..]);
        assert_eq!(hints("me", &payloads[0]).count(), 0);
    }

    #[test]
    fn many_hints_fit_into_what_the_database_takes() {
        let many: Vec<Hint> = (0..5_000).map(|n| Hint::Grew(StreamNumber(n))).collect();
        let payloads = payloads("me", &many);
        assert!(payloads.iter().all(|payload| payload.len() < 8_000));
        let heard = payloads.iter().flat_map(|payload| hints("other", payload));
        assert_eq!(heard.count(), 5_000);
    }

    #[test]
    fn what_nobody_understands_is_no_hint() {
        for payload in ["", "x", "x y", "x g", "x g1x", "x ü1", "x z5"] {
            assert_eq!(hints("me", payload).count(), 0, "{payload}");
        }
    }
}
