//! The estimate in a plan.

use super::*;

#[test]
fn an_estimate_is_read_from_the_first_line_of_a_plan() {
    let plan = "Seq Scan on runs r  (cost=0.00..35.50 rows=2550 width=0)";
    assert_eq!(estimated_rows(plan), Some(2_550));
}
