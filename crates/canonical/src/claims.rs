//! What must be true in the end.

use std::collections::BTreeMap;
use std::fmt;

use everstep::{RunHandle, WaitError};
use serde::de::DeserializeOwned;

use crate::outside::Outside;

/// Something that must be true and is not.
#[derive(Debug)]
pub struct Broken(String);

impl Broken {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request that is refused breaks a story, unless the story says otherwise.
impl<E: std::error::Error> From<E> for Broken {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// These are the same.
pub(crate) fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    seen: T,
    expected: T,
) -> Result<(), Broken> {
    match seen == expected {
        true => Ok(()),
        false => Err(Broken(format!(
            "{what}: {seen:?}, and must be {expected:?}"
        ))),
    }
}

/// The run returns this.
pub(crate) async fn returns<T>(run: &RunHandle, expected: T) -> Result<(), Broken>
where
    T: DeserializeOwned + PartialEq + fmt::Debug,
{
    let output: T = run.wait_json().await?.decode()?;
    same("the result", output, expected)
}

/// The run fails with this message.
pub(crate) async fn fails(run: &RunHandle, message: &str) -> Result<(), Broken> {
    match run.wait_json().await {
        Err(WaitError::Failed(failure)) => same("the failure", failure.message.as_str(), message),
        other => Err(Broken(format!("it did not fail: {other:?}"))),
    }
}

impl Outside {
    /// Each of these happened, in any order; what was in flight, at most so much at once, may have happened once more for each
    /// death.
    pub(crate) fn holds(&self, expected: &[&str], in_flight_max: usize) -> Result<(), Broken> {
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
            false => Err(Broken(format!("done again without need: {happened:?}"))),
        }
    }

    /// These happened in this order; what was in flight when a process died may have happened again right away.
    pub(crate) fn holds_in_order(&self, expected: &[&str]) -> Result<(), Broken> {
        let happened = self.happened();
        let mut once = happened.clone();
        once.dedup();
        let told: Vec<&str> = once.iter().map(String::as_str).collect();
        same("what happened", told.as_slice(), expected)?;
        match happened.len() - once.len() <= self.deaths_max() {
            true => Ok(()),
            false => Err(Broken(format!("done again without need: {happened:?}"))),
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
    fn only_what_was_in_flight_at_a_death_may_be_done_again() {
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
    fn an_order_is_kept_and_what_is_done_again_comes_at_once() {
        let holds = |happened: &[&str]| outside(1, happened).holds_in_order(&["a", "b"]).is_ok();
        assert!(holds(&["a", "b"]));
        assert!(holds(&["a", "a", "b"]));
        assert!(!holds(&["b", "a"]));
        assert!(!holds(&["a", "b", "a"]));
        assert!(!holds(&["a", "a", "b", "b"]));
    }
}
