//! Values survive encoding and decoding, and damage is an error, not a panic.

use std::sync::Arc;

use everstep_model::Timestamp;
use everstep_store::{Row, RpcRow};
use everstep_store_testkit::sample;
use proptest::prelude::*;

use super::*;

fn any_head() -> impl Strategy<Value = Head> {
    (
        any::<[u64; 10]>(),
        any::<u32>(),
        any::<[bool; 4]>(),
        ".{0,20}",
        proptest::collection::vec(".{0,8}", 0..3),
    )
        .prop_map(|(numbers, takeovers, flags, name, tags)| {
            let [
                term,
                next,
                epoch,
                seq,
                at,
                progress,
                inbox,
                events,
                node,
                nonce,
            ] = numbers;
            let mut head = Head::new(StreamNumber(7), StreamName::from_stored(&name), Term(term));
            head.next = RecordNumber(next);
            head.frame = FrameHeader {
                epoch: Epoch(epoch),
                seq: ExecutorSeq(seq),
                executor_at: RecordNumber(at),
                progress_epoch: Epoch(progress),
                inbox_count: inbox,
                unconsumed_events: events,
            };
            head.epoch = Epoch(epoch / 2);
            head.takeovers = takeovers;
            head.owner = flags[0].then_some(Owner {
                node: NodeId(node),
                nonce: Nonce(nonce),
            });
            head.ready = flags[1];
            head.closed = flags[2];
            head.run = flags[3].then(|| {
                Arc::new(RunRow {
                    tags,
                    version: takeovers,
                    generation: Generation(3),
                    updated_at: Timestamp::from_millis(5),
                    ..sample::run("a", "order", RunStatus::Paused)
                })
            });
            head
        })
}

proptest! {
    #[test]
    fn heads_survive_encoding_and_decoding(head in any_head()) {
        prop_assert_eq!(decode_head(head.number, &encode_head(&head)), Ok(head));
    }

    #[test]
    fn a_later_release_may_append_fields(head in any_head(), more in proptest::collection::vec(any::<u8>(), 0..9)) {
        let mut bytes = encode_head(&head);
        bytes.extend(more);
        prop_assert_eq!(decode_head(head.number, &bytes), Ok(head));
    }

    #[test]
    fn damage_never_panics(head in any_head(), at in any::<prop::sample::Index>(), flip in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = encode_head(&head);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = decode_head(head.number, &bytes);
        let key = Row::Rpc(sample::rpc(StreamNumber(1), "r")).key();
        let _ = decode_row(&key, &bytes);
        let _ = decode_number(&bytes);
    }
}

#[test]
fn a_truncated_head_is_refused_at_every_length() {
    let mut head = Head::new(StreamNumber(1), StreamName::from_stored("a"), Term(0));
    head.run = Some(Arc::new(sample::run("a", "order", RunStatus::Queued)));
    head.owner = Some(Owner {
        node: sample::NODE,
        nonce: sample::NONCE,
    });
    let bytes = encode_head(&head);
    for length in 0..bytes.len() {
        assert!(
            decode_head(head.number, &bytes[..length]).is_err(),
            "{length}"
        );
    }
}

#[test]
fn a_newer_version_is_reported() {
    let mut bytes = encode_number(5);
    bytes[0] = VERSION + 1;
    assert_eq!(decode_number(&bytes), Err(Unreadable::Newer(VERSION + 1)));
}

#[test]
fn rows_survive_encoding_and_decoding() {
    let rpc = sample::rpc(StreamNumber(3), "some id");
    let bare = RpcRow {
        deadline: None,
        schema: None,
        ..rpc.clone()
    };
    let key = sample::idempotency("order", "k", "workflows/a");
    for row in [Row::Rpc(rpc), Row::Rpc(bare), key] {
        assert_eq!(decode_row(&row.key(), &encode_row(&row)), Ok(row));
    }
}
