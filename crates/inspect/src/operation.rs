//! Finds operations by the names that people use: a location without its counter, or only its last
//! part.

use everstep_model::{Entry, Location};

/// Returns the operation of a record, if it has this name, such as `charge`, or is at this location
/// without a counter, such as `order/~3/ship/charge`.
#[must_use]
pub fn operation_named<'a>(entry: &'a Entry, name: &str) -> Option<&'a Location> {
    let at = entry.record.body.location()?;
    let is_named = at.name.as_str() == name || format!("{}{}", at.scope, at.name) == name;
    is_named.then_some(at)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
            let entries = journal.0.iter();
            let found: BTreeSet<&Location> = entries
                .filter_map(|entry| operation_named(entry, name))
                .collect();
            let expected: Vec<Location> = expected.into_iter().map(at).collect();
            let expected: BTreeSet<&Location> = expected.iter().collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}
