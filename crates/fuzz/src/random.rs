//! Random numbers derived from a seed (splitmix64), the same on every machine and in every version.

pub(crate) struct Random(u64);

impl Random {
    /// Creates the random numbers of one case.
    pub(crate) fn of_case(seed: u64, case: u64) -> Self {
        let mut random = Self(seed ^ case.wrapping_mul(0xa076_1d64_78bd_642f));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        match end {
            0 => 0,
            end => (self.next() % end as u64) as usize,
        }
    }

    /// Returns a range within `0..length`. Short ranges are more likely.
    pub(crate) fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let longest = (length - start).min(1 << self.below(8));
        start..start + self.below(longest + 1)
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
