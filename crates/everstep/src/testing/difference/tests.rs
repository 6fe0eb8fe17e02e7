//! Tests of differences.

use super::difference;

#[test]
fn what_is_missing_and_what_is_new_is_marked_where_it_belongs() {
    let text = difference(&["a", "b", "c"], &["a", "x", "c", "d"]);
    assert_eq!(text, "  a\n- b\n+ x\n  c\n+ d\n");
    assert_eq!(difference::<&str>(&[], &[]), "");
}
