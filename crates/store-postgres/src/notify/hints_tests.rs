//! Encoding and decoding of hints.

use super::*;

#[test]
fn hints_are_decoded_once_and_not_by_their_sender() {
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
    let decoded: Vec<Hint> = hints("other", &payloads[0]).collect();
    assert_eq!(decoded[..2], sent[..2]);
    assert_eq!(decoded[2..], sent[3..]);
    assert_eq!(hints("me", &payloads[0]).count(), 0);
}

#[test]
fn many_hints_are_split_into_notifications() {
    let many: Vec<Hint> = (0..5_000).map(|n| Hint::Grew(StreamNumber(n))).collect();
    let payloads = payloads("me", &many);
    assert!(payloads.iter().all(|payload| payload.len() < 8_000));
    let decoded = payloads.iter().flat_map(|payload| hints("other", payload));
    assert_eq!(decoded.count(), 5_000);
}

#[test]
fn unknown_texts_are_ignored() {
    for payload in ["", "x", "x y", "x g", "x g1x", "x ü1", "x z5"] {
        assert_eq!(hints("me", payload).count(), 0, "{payload}");
    }
}
