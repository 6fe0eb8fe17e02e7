//! Keys survive encoding and decoding, sort like what they encode, and are short.

use everstep_model::{Location, Scope, Segment};
use proptest::prelude::*;

use super::*;

fn any_name() -> impl Strategy<Value = Name> {
    "[a-zü !:0-9]{1,4}".prop_filter_map("legal", |text| Name::internal(text).ok())
}

fn any_location() -> impl Strategy<Value = Location> {
    let segment = prop_oneof![
        (any_name(), 0u32..3).prop_map(|(name, counter)| Segment::Named(name, counter)),
        prop_oneof![0u64..3, any::<u64>()].prop_map(Segment::Iteration),
    ];
    (
        proptest::collection::vec(segment, 0..4),
        any_name(),
        any::<u32>(),
    )
        .prop_map(|(path, name, counter)| Location {
            scope: Scope::from_segments(path),
            name,
            counter,
        })
}

fn any_timer() -> impl Strategy<Value = TimerRow> {
    (
        0u64..3,
        0u64..3,
        0u8..6,
        proptest::option::of(any_location()),
    )
        .prop_map(|(due, stream, code, location)| TimerRow {
            due: Timestamp::from_millis(due),
            stream: StreamNumber(stream),
            purpose: encoding::purpose(code).unwrap(),
            location,
        })
}

proptest! {
    #[test]
    fn keys_of_timers_are_reversible_and_sort_like_timers(a in any_timer(), b in any_timer()) {
        let (a_key, a_value) = timer(&a);
        let (b_key, _) = timer(&b);
        prop_assert_eq!(timer_row(&a_key, &a_value), Ok(a.clone()));
        prop_assert_eq!(a_key.cmp(&b_key), a.cmp(&b));
    }

    #[test]
    fn arbitrary_bytes_never_panic(key in proptest::collection::vec(any::<u8>(), 0..60), value in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = timer_row(&key, &value);
        let _ = stream_of_head(&key);
        let _ = first_of_page(&key);
        let _ = first_of_frame(&key);
        let _ = workflow_of(&key);
    }

    #[test]
    fn keys_have_a_maximum_length(text in ".{0,20}", times in 0usize..10_000) {
        let long = text.repeat(times);
        for key in [name(&long), dedup(StreamNumber(1), &long), tag(&long)] {
            prop_assert!(key.len() < 2_000);
        }
    }
}

#[test]
fn long_parts_differ_in_all_of_their_bytes() {
    let (a, b) = ("x".repeat(5_000), format!("{}y", "x".repeat(4_999)));
    assert_ne!(name(&a), name(&b));
    assert_ne!(name(&a), name(&"x".repeat(5_001)));
}
