//! The check of the journals of the key-value store.

use crate::directory::journal_check::{holds_a_batch, whole_batches};
use crate::salvage::journal_file;

#[test]
fn the_whole_part_of_a_journal_is_whole() {
    super::check("journal", |bytes| {
        let whole = whole_batches(&mut &bytes[..]).expect("memory can be read");
        let (first, rest) =
            bytes.split_at(usize::try_from(whole.length).expect("within the input"));
        assert_eq!(
            whole_batches(&mut &first[..]).ok(),
            Some(whole),
            "truncated to its whole part"
        );
        let mut rows = 0;
        let scanned = journal_file::scan(bytes, |_, _| rows += 1);
        assert!(scanned.last_seqno >= whole.last_seqno);
        (whole.length, holds_a_batch(rest), rows)
    });
}
