//! Numbers drawn from a seed: the same seed, the same numbers.

use std::time::Duration;

/// A sequence of numbers that its seed decides.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one; 0 if that is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let drawn = (u128::from(self.next()) * u128::from(bound)) >> 64;
        u64::try_from(drawn).unwrap_or_default()
    }

    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// A number from one to the other, both included.
    pub(super) fn between(&mut self, first: i64, last: i64) -> i64 {
        let width = last.abs_diff(first).saturating_add(1);
        first.saturating_add_unsigned(self.below(width))
    }

    /// A whole number of milliseconds, at most this long. Short ones come as often as long ones.
    pub(super) fn duration(&mut self, longest: Duration) -> Duration {
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        let scale = self.below(u64::from(64 - millis.leading_zeros()) + 1);
        let bound = 1_u64.checked_shl(u32::try_from(scale).unwrap_or(u32::MAX));
        let bound = bound.unwrap_or(u64::MAX).min(millis);
        Duration::from_millis(self.below(bound.saturating_add(1)))
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let index = self.below(of.len() as u64);
        of.get(usize::try_from(index).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Draw;

    #[test]
    fn the_same_seed_draws_the_same_numbers_and_another_one_others() {
        let drawn = |seed| {
            let mut draw = Draw::new(seed);
            [draw.below(1_000), draw.below(1_000), draw.below(1_000)]
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
    }

    #[test]
    fn draws_stay_within_their_bounds_and_reach_them() {
        let mut draw = Draw::new(1);
        let mut seen = [false; 5];
        for _ in 0..1_000 {
            let number = draw.between(-2, 2);
            seen[usize::try_from(number + 2).unwrap()] = true;
            assert!(draw.duration(Duration::from_millis(20)) <= Duration::from_millis(20));
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(draw.duration(Duration::ZERO), Duration::ZERO);
    }
}
