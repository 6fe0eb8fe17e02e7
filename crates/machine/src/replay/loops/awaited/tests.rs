//! Tests of undos that pin iterations.

use super::*;

fn scope(text: &str) -> Scope {
    let inside: Location = format!("{text}x:0").parse().unwrap();
    inside.scope
}

#[test]
fn an_outer_iteration_is_released_when_only_its_own_code_waits() {
    let mut awaited = AwaitedUndos::default();
    let location: Location = "outer/~0/inner/~0/step:0".parse().unwrap();
    let (own, other) = (scope("outer/~0/"), scope("beside/~3/"));
    awaited.note(&location, &[own.clone(), other.clone()]);
    assert!(awaited.pin(&own));
    assert_eq!(awaited.forget(&other), [location.scope]);
    assert!(!awaited.pin(&own));
}
