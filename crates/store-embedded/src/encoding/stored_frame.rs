//! Frames as they lie in the journal: decoding their records, and cutting out dropped ones.

use bytes::Bytes;
use everstep_model::{DecodeError, Entry, Frame, Interner, RecordNumber, RecordRange};

/// A frame and the number of its first record.
pub(crate) struct StoredFrame {
    pub(crate) first: RecordNumber,
    pub(crate) bytes: Bytes,
}

impl StoredFrame {
    /// Adds its records from `from` on and before `end`.
    pub(crate) fn entries(
        &self,
        from: RecordNumber,
        end: RecordNumber,
        interner: &mut Interner,
        into: &mut Vec<Entry>,
    ) -> Result<(), DecodeError> {
        let numbered = Frame::decode_entries(&self.bytes, self.first, interner)?;
        into.extend(numbered.filter(|entry| entry.number >= from && entry.number < end));
        Ok(())
    }

    /// What is left of it without `range`, as frames of their own; none if the range does not touch
    /// it.
    pub(crate) fn without(&self, range: RecordRange) -> Result<Option<Vec<Self>>, DecodeError> {
        let (_, count) = Frame::decode_summary(&self.bytes)?;
        let last = self.first.0.saturating_add(count).saturating_sub(1);
        if count == 0 || last < range.first.0 || self.first > range.last {
            return Ok(None);
        }
        if self.first >= range.first && last <= range.last.0 {
            return Ok(Some(Vec::new()));
        }
        let frame = Frame::decode(&self.bytes, &mut Interner::default())?;
        let before = range.first.0.saturating_sub(self.first.0);
        let through = range.last.0.saturating_sub(self.first.0).saturating_add(1);
        let place = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let piece = |first, records: &[_]| Self {
            first,
            bytes: Frame::encode(&frame.header, records).into(),
        };
        let mut left = Vec::new();
        if let Some(kept) = frame.records.get(..place(before)).filter(|r| !r.is_empty()) {
            left.push(piece(self.first, kept));
        }
        if let Some(kept) = frame
            .records
            .get(place(through)..)
            .filter(|r| !r.is_empty())
        {
            left.push(piece(RecordNumber(self.first.0 + through), kept));
        }
        Ok(Some(left))
    }
}
