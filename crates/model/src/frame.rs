//! Frames: the records of one commit as one value, with a header that summarises the stream up to
//! here.

#[cfg(test)]
mod tests;

use bytes::Bytes;

use crate::codec::{DecodeError, FORMAT_VERSION, Reader, Wire, Writer, struct_codec};
use crate::id::{Epoch, ExecutorSeq};
use crate::name::Interner;
use crate::offset::RecordNumber;
use crate::record::{Body, Entry, Origin, Record};
use crate::time::Timestamp;

/// The maximum number of records for which the decoder reserves memory in advance.
const RECORDS_EXPECTED_MAX: usize = 64;

/// The state of a stream after a frame. Stores read it from the last frame instead of keeping a row
/// per commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameHeader {
    /// The epoch of the last executor commit.
    pub epoch: Epoch,
    /// The number of that commit within its epoch.
    pub seq: ExecutorSeq,
    /// The first record of that commit.
    pub executor_at: RecordNumber,
    /// The epoch of the last executor commit that resolved something.
    pub progress_epoch: Epoch,
    /// The number of inbox records.
    pub inbox_count: u64,
    /// The number of events that no wait has taken.
    pub unconsumed_events: u64,
}
struct_codec!(
    FrameHeader {
        epoch,
        seq,
        executor_at,
        progress_epoch,
        inbox_count,
        unconsumed_events
    } + {}
);

impl FrameHeader {
    /// Returns the header after `records` are appended. The store also updates epoch and sequence
    /// for commits of an executor.
    #[must_use]
    pub fn after(mut self, records: &[Record]) -> Self {
        for record in records {
            if record.body.origin() == Origin::Inbox {
                self.inbox_count = self.inbox_count.saturating_add(1);
            }
            match &record.body {
                Body::Event(_) => {
                    self.unconsumed_events = self.unconsumed_events.saturating_add(1);
                }
                Body::WaitCompleted(done) => {
                    self.unconsumed_events = self
                        .unconsumed_events
                        .saturating_sub(done.events.len() as u64);
                }
                _ => {}
            }
        }
        self
    }
}

/// The records of one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The state of the stream after this frame.
    pub header: FrameHeader,
    /// The records, in order.
    pub records: Vec<Record>,
}

impl Frame {
    /// Encodes a frame.
    #[must_use]
    pub fn encode(header: &FrameHeader, records: &[Record]) -> Vec<u8> {
        let mut out = Writer::with_room(64 + 64 * records.len());
        out.byte(FORMAT_VERSION);
        out.delimited(|out| header.put(out));
        out.varint(records.len() as u64);
        let mut last = 0;
        for record in records {
            out.byte(record.body.tag());
            let millis = record.time.as_millis();
            out.varint(zigzag(millis.wrapping_sub(last) as i64));
            last = millis;
            out.delimited(|out| record.body.put_fields(out));
        }
        out.out
    }

    /// Decodes the records and numbers them from `first`.
    pub fn decode_entries(
        bytes: &Bytes,
        first: RecordNumber,
        interner: &mut Interner,
    ) -> Result<impl Iterator<Item = Entry> + use<>, DecodeError> {
        let records = Self::decode(bytes, interner)?.records.into_iter();
        Ok(records.enumerate().map(move |(index, record)| Entry {
            number: first.plus(index),
            record,
        }))
    }

    /// Decodes a frame. Payloads share the memory of `bytes`.
    pub fn decode(bytes: &Bytes, interner: &mut Interner) -> Result<Self, DecodeError> {
        let mut input = Reader::new(bytes, interner);
        let header = decode_header(&mut input)?;
        let count = input.varint()?;
        if count > input.remaining() as u64 {
            return Err(DecodeError::Damaged("it has fewer bytes than records"));
        }
        // The count is not trusted for large allocations.
        let expected = usize::try_from(count).unwrap_or(usize::MAX);
        let mut records = Vec::with_capacity(expected.min(RECORDS_EXPECTED_MAX));
        let mut last = 0u64;
        for _ in 0..count {
            let tag = input.byte()?;
            last = last.wrapping_add(unzigzag(input.varint()?) as u64);
            let body = input.delimited(|input| Body::take_fields(tag, input))?;
            records.push(Record {
                time: Timestamp::from_millis(last),
                body,
            });
        }
        if !input.is_empty() {
            return Err(DecodeError::Damaged("bytes follow its last record"));
        }
        Ok(Self { header, records })
    }

    /// Decodes the header and the number of records.
    pub fn decode_summary(bytes: &Bytes) -> Result<(FrameHeader, u64), DecodeError> {
        let mut interner = Interner::default();
        let mut input = Reader::new(bytes, &mut interner);
        let header = decode_header(&mut input)?;
        Ok((header, input.varint()?))
    }

    /// Decodes the header only.
    pub fn decode_header(bytes: &Bytes) -> Result<FrameHeader, DecodeError> {
        let mut interner = Interner::default();
        decode_header(&mut Reader::new(bytes, &mut interner))
    }
}

fn decode_header(input: &mut Reader<'_>) -> Result<FrameHeader, DecodeError> {
    let version = input.byte()?;
    if version > FORMAT_VERSION {
        return Err(DecodeError::NewerFormat(version));
    }
    if version == 0 {
        return Err(DecodeError::Damaged("it has no format version"));
    }
    input.delimited(FrameHeader::take)
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}
