//! Randomness from a seed: the only source of chance in a simulation.

/// A stream of numbers that follows from its seed.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of this seed. Streams of one seed and different purposes do not meet.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut rng = Self(seed ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        rng.number();
        rng
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one; 0 if it is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number().checked_rem(end).unwrap_or_default()
    }

    /// A number from a range.
    pub fn within(&mut self, range: std::ops::Range<u64>) -> u64 {
        range.start + self.below(range.end.saturating_sub(range.start))
    }

    /// An index into something of this length.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// True once in so many cases, in the long run.
    pub fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases.max(1)) == 0
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.index(of.len()))
    }

    /// A copyable one of several, or the default if there is none.
    pub fn any<T: Copy + Default>(&mut self, of: &[T]) -> T {
        self.pick(of).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_purposes_give_others() {
        let draw = |seed, purpose| {
            let mut rng = Rng::new(seed, purpose);
            [rng.number(), rng.number(), rng.below(10)]
        };
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
    }
}
