//! Pages of sets of streams.

use crate::encoding::page::Page;

#[test]
fn pages_are_decoded_or_refused() {
    super::check("page", |bytes| {
        let Ok(mut page) = Page::decode(bytes) else {
            return (false, 0);
        };
        assert_eq!(page.encode(), bytes, "the encoding of a page is unique");
        let members: Vec<u64> = std::iter::from_fn(|| page.take_last()).collect();
        assert!(members.is_sorted_by(|a, b| a > b) && page.is_empty());
        (true, members.len().ilog2())
    });
}
