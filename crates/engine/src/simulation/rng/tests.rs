//! Tests of the random numbers.

use super::*;

#[test]
fn numbers_follow_from_seed_and_purpose() {
    let draw = |seed, purpose| {
        let mut rng = Rng::new(seed, purpose);
        [rng.number(), rng.number(), rng.below(10)]
    };
    assert_eq!(draw(7, 1), draw(7, 1));
    assert_ne!(draw(7, 1), draw(7, 2));
    assert_ne!(draw(7, 1), draw(8, 1));
}

#[test]
fn numbers_stay_within_their_bounds_and_reach_them() {
    let mut rng = Rng::new(1, 0);
    let mut seen = [false; 5];
    for _ in 0..1_000 {
        let number = rng.between(-2, 2);
        seen[usize::try_from(number + 2).unwrap()] = true;
        assert!(rng.duration(Duration::from_millis(20)) <= Duration::from_millis(20));
    }
    assert_eq!(seen, [true; 5]);
    assert_eq!(rng.duration(Duration::ZERO), Duration::ZERO);
}
