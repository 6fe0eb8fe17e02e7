//! The journals of the key-value store, looked over before it may cut them.

use crate::directory::journal_check::{holds_a_batch, whole_batches};

#[test]
fn a_journal_is_whole_up_to_some_byte_and_the_rest_holds_a_batch_or_not() {
    super::check("journal", |bytes| {
        let whole = whole_batches(&mut &bytes[..]).expect("memory can be read");
        let (first, rest) = bytes.split_at(usize::try_from(whole).expect("within the input"));
        assert_eq!(
            whole_batches(&mut &first[..]).ok(),
            Some(whole),
            "cut where it is whole"
        );
        (whole, holds_a_batch(rest))
    });
}
