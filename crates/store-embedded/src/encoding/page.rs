//! One row of a set of streams: which of 512 neighbours are in it.

use everstep_model::StreamNumber;
use everstep_store::encoding::Damaged;

/// Streams that share a row. Permanent, like all that is here.
const NEIGHBOURS: u64 = 512;
const BYTES: usize = (NEIGHBOURS / 8) as usize;

/// A bit for each neighbour; the first is the lowest bit of the first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page([u8; BYTES]);

/// The number of the page that a stream is on.
pub(crate) fn number_of(stream: StreamNumber) -> u64 {
    stream.0 / NEIGHBOURS
}

/// The first stream of a page.
pub(crate) fn first_of(page: u64) -> Result<StreamNumber, Damaged> {
    let first = page.checked_mul(NEIGHBOURS).map(StreamNumber);
    first.ok_or(Damaged("a page is behind the last stream"))
}

/// The streams of a page.
pub(crate) fn streams_of(page: u64) -> impl Iterator<Item = StreamNumber> {
    let first = page.saturating_mul(NEIGHBOURS);
    (first..first.saturating_add(NEIGHBOURS)).map(StreamNumber)
}

impl Default for Page {
    fn default() -> Self {
        Self([0; BYTES])
    }
}

impl Page {
    pub(crate) fn put(&mut self, stream: StreamNumber, is_member: bool) {
        let place = (stream.0 % NEIGHBOURS) as usize;
        if let Some(byte) = self.0.get_mut(place / 8) {
            let bit = 1 << (place % 8);
            *byte = if is_member { *byte | bit } else { *byte & !bit };
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; BYTES]
    }

    /// The number of members.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// Takes out the last member and says how far it is behind the first stream of the page.
    pub(crate) fn take_last(&mut self) -> Option<u64> {
        let mut backwards = self.0.iter_mut().enumerate().rev();
        let (place, byte) = backwards.find(|(_, byte)| **byte != 0)?;
        let bit = byte.ilog2();
        *byte &= !(1 << bit);
        Some(place as u64 * 8 + u64::from(bit))
    }

    /// Where the first byte with a member is, and the bytes from there to the last with a member: a
    /// set of one is short. Nothing if there is no member.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let is_set = |byte: &u8| *byte != 0;
        let first = self.0.iter().position(is_set);
        let last = self.0.iter().rposition(is_set);
        let (Some(first), Some(last)) = (first, last) else {
            return Vec::new();
        };
        let members = self.0.get(first..=last).unwrap_or_default();
        let mut bytes = Vec::with_capacity(1 + members.len());
        // Below `BYTES`.
        bytes.push(first as u8);
        bytes.extend_from_slice(members);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damaged> {
        let damaged = Damaged("a page is not as it was written");
        let (first, members) = bytes.split_first().ok_or(damaged)?;
        let ends = [members.first(), members.last()];
        if ends.iter().any(|end| end.is_none_or(|byte| *byte == 0)) {
            return Err(damaged);
        }
        let mut page = Self::default();
        let from = usize::from(*first);
        let place = page.0.get_mut(from..from + members.len());
        place.ok_or(damaged)?.copy_from_slice(members);
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn page_of(members: &BTreeSet<u64>) -> Page {
        let mut page = Page::default();
        for member in members {
            page.put(StreamNumber(*member), true);
        }
        page
    }

    fn members(mut page: Page) -> BTreeSet<u64> {
        std::iter::from_fn(|| page.take_last()).collect()
    }

    proptest! {
        #[test]
        fn a_page_is_the_set_of_what_was_put(
            put in proptest::collection::vec((0..NEIGHBOURS, any::<bool>()), 0..200)
        ) {
            let (mut page, mut expected) = (Page::default(), BTreeSet::new());
            for (member, is_member) in put {
                page.put(StreamNumber(member), is_member);
                if is_member {
                    expected.insert(member);
                } else {
                    expected.remove(&member);
                }
            }
            prop_assert_eq!(page.is_empty(), expected.is_empty());
            prop_assert_eq!(members(page), expected);
        }

        #[test]
        fn a_page_is_read_as_it_was_written(put in proptest::collection::btree_set(0..NEIGHBOURS, 1..600)) {
            let page = page_of(&put);
            prop_assert_eq!(Page::decode(&page.encode()), Ok(page));
        }
    }

    #[test]
    fn a_set_of_one_takes_two_bytes() {
        for member in 0..NEIGHBOURS {
            assert_eq!(page_of(&BTreeSet::from([member])).encode().len(), 2);
        }
    }

    #[test]
    fn members_come_last_first() {
        let mut page = page_of(&BTreeSet::from([0, 7, 8, 300, 511]));
        let taken: Vec<u64> = std::iter::from_fn(|| page.take_last()).collect();
        assert_eq!(taken, [511, 300, 8, 7, 0]);
    }

    #[test]
    fn neighbours_share_a_page() {
        assert_eq!(number_of(StreamNumber(511)), 0);
        assert_eq!(number_of(StreamNumber(512)), 1);
        assert_eq!(first_of(1), Ok(StreamNumber(512)));
        assert!(first_of(u64::MAX).is_err());
    }
}
