//! Tests of the bounded cache.

use super::*;

#[test]
fn it_never_outgrows_its_bound() {
    let mut known = Generations::<u64, u64>::new(10);
    for key in 0..1_000 {
        known.keep(key, 0);
        assert!(known.young.len() + known.old.len() <= 10);
    }
}

#[test]
fn what_is_in_use_stays() {
    let mut known = Generations::<u64, u64>::new(10);
    known.keep(0, 7);
    for key in 1..1_000 {
        known.keep(key, 0);
        assert_eq!(known.get(&0), Some(7));
    }
}

#[test]
fn an_older_value_never_comes_back() {
    let mut known = Generations::<u64, u64>::new(4);
    for value in 0..100 {
        known.keep(0, value);
        for other in 1..=value % 5 {
            known.keep(other, 0);
        }
        assert!(known.get(&0).is_none_or(|found| found == value));
    }
}

#[test]
fn what_is_forgotten_is_in_neither_generation() {
    let mut known = Generations::<u64, u64>::new(4);
    for key in 0..3 {
        known.keep(key, 0);
    }
    for key in 0..3 {
        known.forget(&key);
        assert_eq!(known.get(&key), None);
    }
}
