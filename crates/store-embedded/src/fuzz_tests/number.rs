//! Single numbers, and the numbers of removed streams.

use crate::encoding::values::{decode_number, decode_removed, encode_number, encode_removed};

#[test]
fn a_decoded_number_survives_encoding() {
    super::check("number", |bytes| {
        let number = decode_number(bytes);
        if let Ok(number) = number {
            assert_eq!(decode_number(&encode_number(number)), Ok(number));
        }
        let removed = decode_removed(bytes);
        if let Ok((next, term)) = removed {
            assert_eq!(
                decode_removed(&encode_removed(next, term)),
                Ok((next, term))
            );
        }
        format!("{:?} {:?}", number.err(), removed.err())
    });
}
