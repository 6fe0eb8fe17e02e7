//! The records of a commit as the database stores them: one frame of bytes, and the counts that it
//! needs without decoding the frame.

use everstep_model::{Body, Frame, FrameHeader, Origin, Record};
use everstep_store::encoding::Out;

pub(crate) struct Framed {
    /// The frame behind its length, so that the database can put one before the other.
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: i32,
    /// How many came from others than the executor.
    pub(crate) inbox: i32,
    /// What they do to the number of unconsumed events, which is never below 0: `n` becomes `max(n
    /// + events, events_min)`.
    pub(crate) events: i32,
    pub(crate) events_min: i32,
}

impl Framed {
    pub(crate) fn of(records: &[Record]) -> Self {
        let inbox = records.iter().filter(|r| r.body.origin() == Origin::Inbox);
        let (events, events_min) = unconsumed(records);
        // Heads know what a frame's header would say.
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
