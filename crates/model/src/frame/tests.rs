//! Frames of all kinds of records round-trip, and damaged bytes are an error, never a panic.

use bytes::Bytes;
use proptest::prelude::*;

use super::{DecodeError, FORMAT_VERSION, Frame, FrameHeader};
use crate::samples::{any_record, one_of_each};
use crate::{Epoch, ExecutorSeq, Interner, RecordNumber};

fn header() -> impl Strategy<Value = FrameHeader> {
    (
        any::<u64>(),
        any::<u64>(),
        any::<u64>(),
        0u64..100,
        0u64..100,
    )
        .prop_map(
            |(epoch, seq, at, inbox_count, unconsumed_events)| FrameHeader {
                epoch: Epoch(epoch),
                seq: ExecutorSeq(seq),
                executor_at: RecordNumber(at),
                progress_epoch: Epoch(epoch / 2),
                inbox_count,
                unconsumed_events,
            },
        )
}

fn round_trip(header: &FrameHeader, records: &[crate::Record]) -> Frame {
    let bytes = Bytes::from(Frame::encode(header, records));
    Frame::decode(&bytes, &mut Interner::default()).unwrap()
}

#[test]
fn every_kind_of_record_round_trips() {
    let records = one_of_each();
    let frame = round_trip(&FrameHeader::default(), &records);
    assert_eq!(frame.records, records);
}

proptest! {
    #[test]
    fn frames_round_trip(header in header(), records in proptest::collection::vec(any_record(), 0..40)) {
        let frame = round_trip(&header, &records);
        prop_assert_eq!(frame.header, header);
        prop_assert_eq!(frame.records, records);
    }

    #[test]
    fn damaged_frames_are_errors(
        records in proptest::collection::vec(any_record(), 0..5),
        cut in any::<prop::sample::Index>(),
        flip in any::<(prop::sample::Index, u8)>(),
    ) {
        let mut bytes = Frame::encode(&FrameHeader::default(), &records);
        let at = flip.0.index(bytes.len());
        bytes[at] ^= flip.1;
        bytes.truncate(cut.index(bytes.len()) + 1);
        let _ = Frame::decode(&Bytes::from(bytes), &mut Interner::default());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Frame::decode(&Bytes::from(bytes), &mut Interner::default());
    }
}

#[test]
fn a_summary_matches_the_frame() {
    let records = one_of_each();
    let header = FrameHeader {
        inbox_count: 7,
        ..FrameHeader::default()
    };
    let bytes = Bytes::from(Frame::encode(&header, &records));
    let summary = Frame::decode_summary(&bytes);
    assert_eq!(summary, Ok((header, records.len() as u64)));
}

#[test]
fn a_truncated_frame_is_refused_at_every_length() {
    let bytes = Frame::encode(&FrameHeader::default(), &one_of_each());
    for length in 0..bytes.len() {
        let cut = Bytes::copy_from_slice(&bytes[..length]);
        assert!(
            Frame::decode(&cut, &mut Interner::default()).is_err(),
            "{length} bytes"
        );
    }
}

#[test]
fn a_newer_format_is_refused_with_its_version() {
    let mut bytes = Frame::encode(&FrameHeader::default(), &[]);
    bytes[0] = FORMAT_VERSION + 1;
    let error = Frame::decode(&Bytes::from(bytes), &mut Interner::default()).unwrap_err();
    assert_eq!(error, DecodeError::NewerFormat(FORMAT_VERSION + 1));
    assert!(error.to_string().contains("upgrade"), "{error}");
}

#[test]
fn a_repeated_name_is_written_once() {
    let records: Vec<_> = one_of_each();
    let once = Frame::encode(&FrameHeader::default(), &records[..1]).len();
    let twice = Frame::encode(
        &FrameHeader::default(),
        &[records[0].clone(), records[0].clone()],
    )
    .len();
    assert!(twice - once < once - 2, "{once} then {twice}");
}
