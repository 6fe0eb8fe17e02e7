//! The size of the part of a journal that one shape is built from.

use everstep_model::Entry;

/// How much of a journal one shape is built from.
#[derive(Clone, Copy)]
pub(crate) struct ShapeSize {
    pub(crate) records: usize,
    /// The approximate size of the payloads in these records, in bytes.
    pub(crate) bytes: usize,
}

impl Default for ShapeSize {
    fn default() -> Self {
        Self {
            records: 100_000,
            bytes: 64 << 20,
        }
    }
}

impl ShapeSize {
    /// Subtracts a record.
    pub(super) fn subtract(&mut self, entry: &Entry) {
        let payloads = entry.record.body.payloads();
        let bytes: usize = payloads.map(|payload| payload.as_bytes().len()).sum();
        self.records = self.records.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    pub(super) fn is_used_up(self) -> bool {
        self.records == 0 || self.bytes == 0
    }
}
