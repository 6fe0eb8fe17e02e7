//! Heads of streams.

use everstep_model::StreamNumber;

use crate::encoding::values::{decode_head, encode_head};

#[test]
fn a_decoded_head_survives_encoding() {
    super::check("head", |bytes| {
        let head = match decode_head(StreamNumber(7), bytes) {
            Ok(head) => head,
            Err(error) => return format!("{error:?}"),
        };
        let written = encode_head(&head);
        assert_eq!(decode_head(StreamNumber(7), &written), Ok(head.clone()));
        let _ = (head.name.run(), head.fence());
        format!(
            "{} {:?}",
            bytes.get(1).unwrap_or(&0),
            head.run.map(|run| run.status)
        )
    });
}
