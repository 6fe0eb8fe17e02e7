//! The records of a commit as the database stores them: one frame of bytes, and the counts that it
//! needs without decoding the frame.

use everstep_model::{Body, Frame, FrameHeader, Origin, Record};
use everstep_store::encoding::Out;

pub(crate) struct Framed {
    /// The frame preceded by its length, so that the database can concatenate frames.
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: i32,
    /// The number of inbox records.
    pub(crate) inbox: i32,
    /// The number `n` of unconsumed events, which is never negative, becomes
    /// `max(n + events, events_min)`.
    pub(crate) events: i32,
    pub(crate) events_min: i32,
}

impl Framed {
    pub(crate) fn of(records: &[Record]) -> Self {
        let inbox = records.iter().filter(|r| r.body.origin() == Origin::Inbox);
        let (events, events_min) = unconsumed(records);
        // The header is empty: heads have columns for its fields.
        let frame = Frame::encode(&FrameHeader::default(), records);
        let mut out = Out(Vec::with_capacity(frame.len() + 2));
        out.varint(frame.len() as u64).raw(&frame);
        Self {
            bytes: out.0,
            count: short(records.len()),
            inbox: short(inbox.count()),
            events,
            events_min,
        }
    }
}

fn unconsumed(records: &[Record]) -> (i32, i32) {
    let (mut change, mut least) = (0i32, 0i32);
    for record in records {
        match &record.body {
            Body::Event(_) => {
                change = change.saturating_add(1);
                least = least.saturating_add(1);
            }
            Body::WaitCompleted(done) => {
                let taken = short(done.events.len());
                change = change.saturating_sub(taken);
                least = least.saturating_sub(taken).max(0);
            }
            _ => {}
        }
    }
    (change, least)
}

fn short(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
