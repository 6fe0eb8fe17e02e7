//! Tests of the bounded cache.

use super::*;

#[test]
fn the_capacity_is_never_exceeded() {
    let mut cache = Generations::<u64, u64>::new(10);
    for key in 0..1_000 {
        cache.keep(key, 0);
        assert!(cache.young.len() + cache.old.len() <= 10);
    }
}

#[test]
fn values_in_use_are_not_evicted() {
    let mut cache = Generations::<u64, u64>::new(10);
    cache.keep(0, 7);
    for key in 1..1_000 {
        cache.keep(key, 0);
        assert_eq!(cache.get(&0), Some(7));
    }
}

#[test]
fn a_replaced_value_is_never_returned() {
    let mut cache = Generations::<u64, u64>::new(4);
    for value in 0..100 {
        cache.keep(0, value);
        for other in 1..=value % 5 {
            cache.keep(other, 0);
        }
        assert!(cache.get(&0).is_none_or(|found| found == value));
    }
}

#[test]
fn a_forgotten_value_is_in_neither_generation() {
    let mut cache = Generations::<u64, u64>::new(4);
    for key in 0..3 {
        cache.keep(key, 0);
    }
    for key in 0..3 {
        cache.forget(&key);
        assert_eq!(cache.get(&key), None);
    }
}
