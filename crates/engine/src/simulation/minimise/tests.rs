//! Tests of the minimisation.

use super::*;

#[test]
fn items_and_numbers_that_do_not_matter_are_removed() {
    let fails = |(items, number): &(Vec<u32>, u64)| {
        let is_failure = items.contains(&3) && items.contains(&7) && *number >= 20;
        is_failure.then_some(())
    };
    let case = ((0..10).collect(), 100);
    let mut search = Minimiser::new(case, 1_000, &fails);
    search.remove_items(|case| &mut case.0);
    search.lower(100, |case, number| case.1 = number);
    assert_eq!(search.finish(), ((vec![3, 7], 20), Some(())));
}

#[test]
fn the_number_of_attempts_is_limited() {
    let attempts = std::cell::Cell::new(0);
    let attempt = |_: &Vec<u32>| {
        attempts.set(attempts.get() + 1);
        None::<()>
    };
    let mut search = Minimiser::new(vec![1; 100], 5, &attempt);
    search.remove_items(|items| items);
    assert_eq!(attempts.get(), 5);
    assert_eq!(search.finish().0.len(), 100);
}
