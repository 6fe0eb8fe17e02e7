//! Assertions about the end of a scenario.

use std::collections::BTreeMap;
use std::fmt;

use everstep::{RunHandle, WaitError};
use serde::de::DeserializeOwned;

use crate::outside::Outside;

/// A failed assertion.
#[derive(Debug)]
pub struct AssertionFailed(String);

impl AssertionFailed {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for AssertionFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A rejected request fails the scenario, unless the scenario expects it.
impl<E: std::error::Error> From<E> for AssertionFailed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Fails unless both values are equal.
pub(crate) fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    seen: T,
    expected: T,
) -> Result<(), AssertionFailed> {
    match seen == expected {
        true => Ok(()),
        false => Err(AssertionFailed(format!(
            "{what}: {seen:?} instead of {expected:?}"
        ))),
    }
}

/// Fails unless the run returns this result.
pub(crate) async fn returns<T>(run: &RunHandle, expected: T) -> Result<(), AssertionFailed>
where
    T: DeserializeOwned + PartialEq + fmt::Debug,
{
    let output: T = run.wait_json().await?.decode()?;
    same("the result", output, expected)
}

/// Fails unless the run fails with this message.
pub(crate) async fn fails(run: &RunHandle, message: &str) -> Result<(), AssertionFailed> {
    match run.wait_json().await {
        Err(WaitError::Failed(failure)) => same("the failure", failure.message.as_str(), message),
        other => Err(AssertionFailed(format!("it did not fail: {other:?}"))),
    }
}

impl Outside {
    /// Fails unless each of these effects happened, in any order. For each crash, the effects in
    /// flight (at most `in_flight_max`) may have been repeated once.
    pub(crate) fn holds(
        &self,
        expected: &[&str],
        in_flight_max: usize,
    ) -> Result<(), AssertionFailed> {
        let happened = self.happened();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for what in &happened {
            *counts.entry(what).or_default() += 1;
        }
        let names: Vec<&str> = counts.keys().copied().collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        same("what happened", names, expected)?;
        let again: usize = counts.values().map(|count| count - 1).sum();
        match again <= in_flight_max * self.deaths_max() {
            true => Ok(()),
            false => Err(AssertionFailed(format!(
                "repeated unnecessarily: {happened:?}"
            ))),
        }
    }

    /// Fails unless these effects happened in this order. An effect in flight during a crash may
    /// have been repeated immediately.
    pub(crate) fn holds_in_order(&self, expected: &[&str]) -> Result<(), AssertionFailed> {
        let happened = self.happened();
        let mut once = happened.clone();
        once.dedup();
        let effects: Vec<&str> = once.iter().map(String::as_str).collect();
        same("what happened", effects.as_slice(), expected)?;
        match happened.len() - once.len() <= self.deaths_max() {
            true => Ok(()),
            false => Err(AssertionFailed(format!(
                "repeated unnecessarily: {happened:?}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(deaths_max: usize, happened: &[&str]) -> Outside {
        let outside = Outside::new(deaths_max, |_| std::future::ready(()));
        happened.iter().for_each(|what| outside.happens(*what));
        outside
    }

    #[test]
    fn only_effects_in_flight_during_a_crash_may_be_repeated() {
        let holds =
            |deaths, happened: &[&str]| outside(deaths, happened).holds(&["a", "b"], 1).is_ok();
        assert!(holds(0, &["b", "a"]));
        assert!(holds(1, &["a", "b", "a"]));
        assert!(!holds(0, &["a", "b", "a"]));
        assert!(!holds(1, &["a", "b", "a", "b"]));
        assert!(!holds(1, &["a"]));
        assert!(!holds(1, &["a", "b", "c"]));
    }

    #[test]
    fn effects_keep_their_order_and_repetitions_are_adjacent() {
        let holds = |happened: &[&str]| outside(1, happened).holds_in_order(&["a", "b"]).is_ok();
        assert!(holds(&["a", "b"]));
        assert!(holds(&["a", "a", "b"]));
        assert!(!holds(&["b", "a"]));
        assert!(!holds(&["a", "b", "a"]));
        assert!(!holds(&["a", "a", "b", "b"]));
    }
}
