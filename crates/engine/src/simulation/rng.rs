//! Random numbers that follow from a seed (SplitMix64).

use std::ops::Range;
use std::time::Duration;

/// The increment of SplitMix64.
pub(super) const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Applies the output function of SplitMix64.
pub(super) fn mix(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A sequence of random numbers that follows from its seed.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates the sequence of a seed. The sequences of one seed for different purposes are
    /// independent.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut rng = Self(seed ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        rng.number();
        rng
    }

    /// Returns a number from the whole range of `u64`.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number().checked_rem(end).unwrap_or_default()
    }

    /// Returns a number from a range.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end.saturating_sub(range.start))
    }

    /// Returns a number from `first` to `last`, both included.
    pub fn between(&mut self, first: i64, last: i64) -> i64 {
        let width = last.abs_diff(first).saturating_add(1);
        first.saturating_add_unsigned(self.below(width))
    }

    /// Returns a whole number of milliseconds, at most `longest`. Short durations are as frequent
    /// as long ones.
    pub fn duration(&mut self, longest: Duration) -> Duration {
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        let scale = self.below(u64::from(64 - millis.leading_zeros()) + 1);
        let bound = 1_u64.checked_shl(u32::try_from(scale).unwrap_or(u32::MAX));
        let bound = bound.unwrap_or(u64::MAX).min(millis);
        Duration::from_millis(self.below(bound.saturating_add(1)))
    }

    /// Returns an index into a list of this length.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// Returns true with a probability of one in `cases`.
    pub fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases.max(1)) == 0
    }

    /// Returns a random item; `None` if there is none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// Returns a copy of a random item, or the default if there is none.
    pub fn any<T: Copy + Default>(&mut self, items: &[T]) -> T {
        self.pick(items).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
