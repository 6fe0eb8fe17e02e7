//! Keys of the rows of operations.

use everstep_model::Location;

/// Returns the location without iteration numbers, so that the number of rows depends on the code
/// of a loop and not on the age of the run.
pub(super) fn key_of(location: &Location) -> String {
    let location = location.to_string();
    let segments = location.split('/').map(|segment| match segment {
        iteration if iteration.starts_with('~') => "~",
        other => other,
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_of_a_loop_has_one_key_in_all_iterations() {
        let key_of = |location: &str| key_of(&location.parse().unwrap());
        assert_eq!(key_of("order/~3/ship/charge:0"), "order/~/ship/charge:0");
        assert_eq!(key_of("order/~12/ship/charge:0"), "order/~/ship/charge:0");
        assert_eq!(key_of("charge:1"), "charge:1");
    }
}
