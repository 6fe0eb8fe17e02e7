//! Dropping records.

use everstep_model::{RecordNumber, RecordRange, StreamNumber};
use everstep_store::StoreError;

use super::batch::Stage;
use crate::encoding::keys;
use crate::encoding::values;

impl Stage<'_> {
    /// Drops ranges of records before `end`. Stages nothing if it fails.
    pub(super) fn drop_records(
        &mut self,
        stream: StreamNumber,
        ranges: &[RecordRange],
        end: RecordNumber,
    ) -> Result<(), StoreError> {
        if ranges.is_empty() {
            return Ok(());
        }
        let key = keys::holes(stream);
        let holes = self.lookup(&key, "the gaps of a stream", values::decode_holes)?;
        let holes = holes.unwrap_or_default().with(ranges, end);
        let of_stream = (stream, RecordNumber(0))..=(stream, RecordNumber(u64::MAX));
        let staged = self.frames.range(of_stream.clone());
        let staged: Vec<_> = staged.map(|(key, frame)| (*key, frame.clone())).collect();
        let dropped = ranges
            .iter()
            .try_for_each(|range| self.drop_range(stream, *range, end));
        if dropped.is_err() {
            self.frames.retain(|key, _| !of_stream.contains(key));
            self.frames.extend(staged);
        } else {
            let holes = values::encode_holes(&holes);
            self.lookups.insert(key, Some(holes));
        }
        dropped
    }

    fn drop_range(
        &mut self,
        stream: StreamNumber,
        range: RecordRange,
        end: RecordNumber,
    ) -> Result<(), StoreError> {
        for frame in self.stored_frames(stream, range.first, range.last, end)? {
            let rest = frame.without(range);
            let Some(rest) = rest.map_err(|e| self.view().bad_frame(stream, &e))? else {
                continue;
            };
            self.frames.insert((stream, frame.first), None);
            for piece in rest {
                self.frames
                    .insert((stream, piece.first), Some(piece.bytes.into()));
            }
        }
        Ok(())
    }
}
