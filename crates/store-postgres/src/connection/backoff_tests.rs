//! The delays between attempts to connect.

use super::*;

fn refused() -> StoreError {
    StoreError::Unavailable {
        detail: "connection refused".to_owned(),
    }
}

fn after(begin: Instant, millis: u64) -> Instant {
    begin + Duration::from_millis(millis)
}

#[test]
fn delays_grow_while_the_server_cannot_be_reached() {
    let (backoff, begin) = (Backoff::default(), Instant::now());
    assert_eq!(backoff.check(begin), None);
    backoff.failed(begin, begin, &refused());
    assert_eq!(backoff.check(after(begin, 49)), Some(refused()));
    assert_eq!(backoff.check(after(begin, 50)), None);
    let later = after(begin, 50);
    backoff.failed(later, later, &refused());
    assert_eq!(backoff.check(after(begin, 149)), Some(refused()));
    assert_eq!(backoff.check(after(begin, 150)), None);
}

#[test]
fn a_successful_connection_ends_the_delay() {
    let (backoff, begin) = (Backoff::default(), Instant::now());
    backoff.failed(begin, begin, &refused());
    backoff.connected(after(begin, 1));
    assert_eq!(backoff.check(after(begin, 2)), None);
}

#[test]
fn a_failure_of_an_attempt_before_the_last_connection_is_ignored() {
    let (backoff, begin) = (Backoff::default(), Instant::now());
    backoff.connected(after(begin, 10));
    backoff.failed(begin, after(begin, 20), &refused());
    assert_eq!(backoff.check(after(begin, 21)), None);
    backoff.failed(after(begin, 11), after(begin, 20), &refused());
    assert_eq!(backoff.check(after(begin, 21)), Some(refused()));
}
