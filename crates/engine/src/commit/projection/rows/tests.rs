//! Tests of the projection of records to rows.

use everstep_store::{CommitTime, SharedKey, SharedKind, SharedRow};

use super::*;

#[test]
fn a_shared_row_that_is_deleted_and_put_is_replaced() {
    let key = SharedKey::new(SharedKind::Slot, []).unwrap();
    let timer = TimerRow {
        due: Timestamp::from_millis(1),
        stream: StreamNumber(1),
        purpose: TimerPurpose::Sleep,
        location: None,
    };
    let shared = Row::Shared(SharedRow {
        key: key.clone(),
        value: Vec::new(),
        committed_at: CommitTime::Absent,
    });
    let mut rows = RowChanges {
        put: vec![shared.clone(), Row::Timer(timer.clone())],
        delete: vec![RowKey::Shared(key), RowKey::Timer(timer.clone())],
        ..RowChanges::default()
    };
    let (kept, mut timers) = (rows.delete[..1].to_vec(), vec![timer]);
    cancel_out(&mut rows, &mut timers);
    assert_eq!((rows.put, rows.delete), (vec![shared], kept));
    assert!(timers.is_empty());
}
