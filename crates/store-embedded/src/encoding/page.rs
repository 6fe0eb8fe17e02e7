//! Pages of sets of streams: a bit for each of 512 consecutive stream numbers.

use everstep_model::StreamNumber;
use everstep_store::encoding::Damaged;

/// The number of streams on a page. Permanent, like the encoding.
const STREAMS: u64 = 512;
const BYTES: usize = (STREAMS / 8) as usize;

/// A bit for each stream; the first is the lowest bit of the first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page([u8; BYTES]);

/// Returns the number of the page of a stream.
pub(crate) fn number_of(stream: StreamNumber) -> u64 {
    stream.0 / STREAMS
}

/// Returns the first stream of a page.
pub(crate) fn first_of(page: u64) -> Result<StreamNumber, Damaged> {
    let first = page.checked_mul(STREAMS).map(StreamNumber);
    first.ok_or(Damaged("the number of a page is too large"))
}

pub(crate) fn streams_of(page: u64) -> impl Iterator<Item = StreamNumber> {
    let first = page.saturating_mul(STREAMS);
    (first..first.saturating_add(STREAMS)).map(StreamNumber)
}

impl Default for Page {
    fn default() -> Self {
        Self([0; BYTES])
    }
}

impl Page {
    pub(crate) fn put(&mut self, stream: StreamNumber, is_member: bool) {
        let index = (stream.0 % STREAMS) as usize;
        if let Some(byte) = self.0.get_mut(index / 8) {
            let bit = 1 << (index % 8);
            *byte = if is_member { *byte | bit } else { *byte & !bit };
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; BYTES]
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// Removes the last member and returns its offset on the page.
    pub(crate) fn take_last(&mut self) -> Option<u64> {
        let mut backwards = self.0.iter_mut().enumerate().rev();
        let (index, byte) = backwards.find(|(_, byte)| **byte != 0)?;
        let bit = byte.ilog2();
        *byte &= !(1 << bit);
        Some(index as u64 * 8 + u64::from(bit))
    }

    /// Encodes the index of the first byte that is not zero, and the bytes from there to the last
    /// one that is not zero. Without members, the encoding is empty.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let is_set = |byte: &u8| *byte != 0;
        let first = self.0.iter().position(is_set);
        let last = self.0.iter().rposition(is_set);
        let (Some(first), Some(last)) = (first, last) else {
            return Vec::new();
        };
        let members = self.0.get(first..=last).unwrap_or_default();
        let mut bytes = Vec::with_capacity(1 + members.len());
        bytes.push(first as u8); // Less than `BYTES`.
        bytes.extend_from_slice(members);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damaged> {
        let damaged = Damaged("a page is not valid");
        let (first, members) = bytes.split_first().ok_or(damaged)?;
        let ends = [members.first(), members.last()];
        if ends.iter().any(|end| end.is_none_or(|byte| *byte == 0)) {
            return Err(damaged);
        }
        let mut page = Self::default();
        let from = usize::from(*first);
        let target = page.0.get_mut(from..from + members.len());
        target.ok_or(damaged)?.copy_from_slice(members);
        Ok(page)
    }
}

#[cfg(test)]
mod tests;
