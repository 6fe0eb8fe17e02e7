//! The values of rows. The first byte of an input selects the kind of row.

use everstep_model::{Name, RpcId, RunId, StreamNumber};
use everstep_store::{Row, RowKey, SharedKind};
use everstep_store_testkit::sample::shared;

use crate::encoding::values::{decode_effect, decode_row, encode_row};

#[test]
fn a_decoded_row_survives_encoding() {
    let stream = StreamNumber(7);
    let keys = [
        RowKey::Rpc(stream, RpcId("rpc_1".into())),
        RowKey::Idempotency(Name::new("order").unwrap(), "key".to_owned()),
        RowKey::Generation(RunId::new("a").unwrap()),
        RowKey::Outbox(stream, "key".to_owned()),
        RowKey::Stream(stream),
        RowKey::Producer(stream, "p".to_owned()),
        RowKey::Shared(shared(SharedKind::Slot, &[], "").key),
    ];
    super::check("row", |bytes| {
        let Some((kind, bytes)) = bytes.split_first() else {
            return String::new();
        };
        let key = &keys[usize::from(*kind) % keys.len()];
        let row = match decode_row(key, bytes) {
            Ok(row) => row,
            Err(error) => return format!("{kind} {error:?}"),
        };
        assert_eq!(decode_row(key, &encode_row(&row)), Ok(row.clone()));
        if let Row::Outbox(effect) = &row {
            assert_eq!(decode_effect(stream, bytes).as_ref(), Ok(effect));
        }
        format!("{kind}")
    });
}
