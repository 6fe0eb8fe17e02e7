//! Stored frames: decoding their records, and removing dropped ones.

use std::ops::Range;

use bytes::Bytes;
use everstep_model::{DecodeError, Entry, Frame, Interner, RecordNumber, RecordRange};

/// A frame and the number of its first record.
pub(crate) struct StoredFrame {
    pub(crate) first: RecordNumber,
    pub(crate) bytes: Bytes,
}

impl StoredFrame {
    /// Decodes the records within the range and adds them to `entries`.
    pub(crate) fn entries(
        &self,
        range: Range<RecordNumber>,
        interner: &mut Interner,
        entries: &mut Vec<Entry>,
    ) -> Result<(), DecodeError> {
        let numbered = Frame::decode_entries(&self.bytes, self.first, interner)?;
        entries.extend(numbered.filter(|entry| range.contains(&entry.number)));
        Ok(())
    }

    /// Returns the frames that remain without `range`; `None` if the range does not touch this
    /// frame.
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
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let pieces = [
            (0, frame.records.get(..index(before))),
            (through, frame.records.get(index(through)..)),
        ];
        let kept = pieces.into_iter().filter_map(|(offset, records)| {
            let records = records.filter(|records| !records.is_empty())?;
            Some(Self {
                first: RecordNumber(self.first.0 + offset),
                bytes: Frame::encode(&frame.header, records).into(),
            })
        });
        Ok(Some(kept.collect()))
    }
}
