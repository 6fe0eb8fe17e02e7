//! Frames as they lie in the journal, and the records that were dropped from them.

use bytes::Bytes;
use everstep_model::{DecodeError, Entry, Frame, Interner, RecordNumber};
use everstep_store::encoding::{Damaged, In};

use crate::number::uncount;

/// Frames, each behind its length and the newest first, and the number of the first record of the
/// oldest.
#[derive(Debug)]
pub(crate) struct StoredFrames {
    pub(crate) first: RecordNumber,
    pub(crate) bytes: Bytes,
}

impl StoredFrames {
    /// Adds their records from `from` on and before `end`.
    pub(crate) fn entries(
        &self,
        from: RecordNumber,
        end: RecordNumber,
        interner: &mut Interner,
        into: &mut Vec<Entry>,
    ) -> Result<(), DecodeError> {
        let mut first = self.first;
        for frame in self.oldest_first()? {
            for entry in Frame::decode_entries(&frame, first, interner)? {
                first = entry.number.plus(1);
                if entry.number >= from && entry.number < end {
                    into.push(entry);
                }
            }
        }
        Ok(())
    }

    fn oldest_first(&self) -> Result<impl Iterator<Item = Bytes>, DecodeError> {
        let mut frames = Vec::new();
        let mut input = In(&self.bytes);
        while !input.0.is_empty() {
            let frame = frame(&mut input).map_err(|Damaged(what)| DecodeError::Damaged(what))?;
            frames.push(self.bytes.slice_ref(frame));
        }
        Ok(frames.into_iter().rev())
    }
}

fn frame<'a>(input: &mut In<'a>) -> Result<&'a [u8], Damaged> {
    let length = input.varint()?;
    input.raw(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Records that were dropped while others of their frame stay.
#[derive(Debug, Default)]
pub(crate) struct Gaps(Vec<std::ops::Range<u64>>);

impl Gaps {
    /// From bounds, the upper one excluded, as the database gives them.
    pub(crate) fn of(lowers: &[i64], uppers: &[i64]) -> Self {
        let mut gaps = Self::default();
        for (lower, upper) in lowers.iter().zip(uppers) {
            gaps.push(*lower, *upper);
        }
        gaps
    }

    pub(crate) fn push(&mut self, lower: i64, upper: i64) {
        self.0.push(uncount(lower)..uncount(upper));
    }

    pub(crate) fn leave_out(&self, entries: &mut Vec<Entry>) {
        if !self.0.is_empty() {
            entries.retain(|entry| !self.0.iter().any(|gap| gap.contains(&entry.number.0)));
        }
    }
}
