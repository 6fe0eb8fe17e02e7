//! Tests of the texts.

use super::clock_error;

#[test]
fn the_error_of_a_clock_has_a_direction() {
    assert_eq!(clock_error(-1_500), "the clock is set 1.5s behind");
    assert_eq!(clock_error(1_500), "the clock is set 1.5s ahead");
}
