//! Journals for the tests of this crate.

mod random;

pub(crate) use everstep_samples::*;
pub(crate) use random::*;

use crate::overview::Overview;

pub(crate) trait Inspect {
    fn overview(&self) -> Overview;
}

impl Inspect for Journal {
    fn overview(&self) -> Overview {
        Overview::of(&self.0)
    }
}
