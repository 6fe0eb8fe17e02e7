//! Encoding and decoding of frames, which every commit writes and every replay reads.

use std::hint::black_box;

use bytes::Bytes;
use everstep_model::record::StepCompleted;
use everstep_model::{Frame, FrameHeader, Interner, Location, Name, Payload, Record};

use crate::{NOW, Operation, RESULT};

pub(crate) fn encode() -> Operation {
    let (header, records) = (FrameHeader::default(), [step_completed(1)]);
    Box::new(move || {
        black_box(Frame::encode(black_box(&header), black_box(&records)));
    })
}

pub(crate) fn decode() -> Operation {
    let bytes = Frame::encode(&FrameHeader::default(), &[step_completed(1)]);
    let bytes = Bytes::from(bytes);
    let mut interner = Interner::default();
    Box::new(move || {
        black_box(Frame::decode(black_box(&bytes), &mut interner).unwrap());
    })
}

/// Returns the record that a commit writes when a step completes.
pub(crate) fn step_completed(number: u32) -> Record {
    let body = StepCompleted {
        location: Location::root(Name::new("step").unwrap(), number),
        attempt: 1,
        started_at: NOW,
        result: Payload::from_value(RESULT).unwrap(),
        undo: None,
        sensitive: false,
        early: None,
        no_return: false,
    };
    Record {
        time: NOW,
        body: body.into(),
    }
}
