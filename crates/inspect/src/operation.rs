//! Finds operations by the names that people use: a location without its counter, or only its last part.

use std::collections::BTreeSet;

use everstep_model::{Entry, Location};

/// Returns the operations of a journal with this name, such as `charge`, or at this location without a counter, such as
/// `order/~3/ship/charge`.
#[must_use]
pub fn operations_named(journal: &[Entry], name: &str) -> BTreeSet<Location> {
    let locations = journal
        .iter()
        .filter_map(|entry| entry.record.body.location());
    locations
        .filter(|at| at.name.as_str() == name || format!("{}{}", at.scope, at.name) == name)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    // B831
    #[test]
    fn operations_are_found_by_name_or_by_location_without_counter() {
        let steps = ["charge:0", "charge:1", "order/~3/ship/charge:0", "ship:0"];
        let started = steps.map(|at| started(at, 1).into());
        let journal = Journal::created().with_all(started);
        for (name, expected) in [
            ("ship", vec!["ship:0"]),
            ("order/~3/ship/charge", vec!["order/~3/ship/charge:0"]),
            (
                "charge",
                vec!["charge:0", "charge:1", "order/~3/ship/charge:0"],
            ),
            ("nothing", vec![]),
        ] {
            let found = operations_named(&journal.0, name);
            let expected: BTreeSet<Location> = expected.into_iter().map(at).collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}
