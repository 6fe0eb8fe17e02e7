//! Random records.

use proptest::prelude::*;

use super::journal::name;
use super::kinds::one_of_each;
use everstep_model::record::{Event, StepCompleted};
use everstep_model::{Body, Location, Payload, Record, Scope, Segment, Timestamp};

fn any_location() -> impl Strategy<Value = Location> {
    let segment = prop_oneof![
        ("[a-z]{1,5}", 0u32..3).prop_map(|(n, c)| Segment::Named(name(&n), c)),
        any::<u64>().prop_map(Segment::Iteration),
    ];
    (
        proptest::collection::vec(segment, 0..3),
        "[a-z ]{1,9}",
        any::<u32>(),
    )
        .prop_map(|(path, n, counter)| Location {
            scope: Scope::from_segments(path),
            name: name(&n),
            counter,
        })
}

fn any_payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        any::<String>().prop_map(|s| Payload::from_value(&s).unwrap()),
        any::<Vec<u32>>().prop_map(|s| Payload::from_value(&s).unwrap()),
    ]
}

/// Returns a record of any kind. Steps and events, the most frequent ones, have random fields.
pub fn any_record() -> impl Strategy<Value = Record> {
    let fixed = proptest::sample::select(one_of_each()).prop_map(|record| record.body);
    let completed = (any_location(), any::<u32>(), any_payload(), any::<bool>()).prop_map(
        |(location, attempt, result, sensitive)| {
            Body::from(StepCompleted {
                location,
                attempt,
                started_at: Timestamp::from_millis(u64::from(attempt)),
                result,
                undo: None,
                sensitive,
                early: None,
                no_return: false,
            })
        },
    );
    let event = ("[a-z-]{1,9}", any_payload(), any::<Option<String>>()).prop_map(
        |(n, payload, dedup_id)| {
            Body::from(Event {
                name: name(&n),
                payload,
                dedup_id,
                reply_to: None,
                by: None,
            })
        },
    );
    (prop_oneof![fixed, completed, event], 0u64..1 << 46).prop_map(|(body, millis)| Record {
        time: Timestamp::from_millis(millis),
        body,
    })
}
