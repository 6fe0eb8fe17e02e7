//! Tests of pages.

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
    fn a_page_contains_exactly_its_members(
        put in proptest::collection::vec((0..STREAMS, any::<bool>()), 0..200)
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
    fn a_page_survives_encoding_and_decoding(put in proptest::collection::btree_set(0..STREAMS, 1..600)) {
        let page = page_of(&put);
        prop_assert_eq!(Page::decode(&page.encode()), Ok(page));
    }
}

#[test]
fn a_set_of_one_takes_two_bytes() {
    for member in 0..STREAMS {
        assert_eq!(page_of(&BTreeSet::from([member])).encode().len(), 2);
    }
}

#[test]
fn members_are_taken_from_the_last_to_the_first() {
    let mut page = page_of(&BTreeSet::from([0, 7, 8, 300, 511]));
    let taken: Vec<u64> = std::iter::from_fn(|| page.take_last()).collect();
    assert_eq!(taken, [511, 300, 8, 7, 0]);
}

#[test]
fn consecutive_streams_share_a_page() {
    assert_eq!(number_of(StreamNumber(511)), 0);
    assert_eq!(number_of(StreamNumber(512)), 1);
    assert_eq!(first_of(1), Ok(StreamNumber(512)));
    assert!(first_of(u64::MAX).is_err());
}
