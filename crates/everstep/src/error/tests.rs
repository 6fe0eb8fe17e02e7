//! Tests of the conversion of errors.

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("card declined")]
struct Declined(#[source] std::io::Error);

// B30
#[test]
fn an_application_error_keeps_its_name_message_and_cause() {
    let error = Error::from(Declined(std::io::Error::other("bank offline")));
    assert_eq!(error.failure().name, "Declined");
    assert_eq!(error.failure().message, "card declined");
    let cause = error.failure().cause.as_ref().unwrap();
    assert_eq!(cause.message, "bank offline");
}

#[derive(Debug)]
struct Endless;

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("endless")
    }
}

impl std::error::Error for Endless {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self)
    }
}

// B30
#[test]
fn the_causes_of_an_error_that_is_its_own_source_are_limited() {
    let error = Error::from(Endless);
    let causes = std::iter::successors(Some(error.failure()), |f| f.cause.as_deref());
    assert_eq!(causes.count(), limits::CAUSES_MAX + 1);
}

// B30
#[test]
fn a_fatal_error_may_have_no_message() {
    let error = Error::fatal("").named("Stop");
    assert_eq!(error.class(), FailureClass::Fatal);
    assert_eq!(error.failure().name, "Stop");
}
