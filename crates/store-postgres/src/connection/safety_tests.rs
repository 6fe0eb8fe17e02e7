//! Settings that are accepted and refused.

use super::*;

fn sound() -> Settings {
    Settings {
        version: 150_004,
        in_recovery: false,
        fsync: "on".to_owned(),
        full_page_writes: "on".to_owned(),
        synchronous_commit: "on".to_owned(),
        standbys: String::new(),
        isolation: "read committed".to_owned(),
    }
}

/// Returns the setting that is refused.
fn refused(change: impl Fn(&mut Settings)) -> Option<String> {
    let mut settings = sound();
    change(&mut settings);
    match settings
        .check_usable()
        .and_then(|()| settings.check_durable())
    {
        Err(StoreError::Unsafe { setting, .. }) => Some(setting),
        Err(other) => panic!("{other}"),
        Ok(()) => None,
    }
}

#[test]
fn settings_that_lose_commits_are_refused_by_name() {
    let is = |change: fn(&mut Settings), name: &str| {
        assert_eq!(refused(change).as_deref(), Some(name));
    };
    is(|s| s.version = 140_012, "PostgreSQL 14");
    is(
        |s| s.in_recovery = true,
        "a replica, or a server in recovery",
    );
    is(|s| s.fsync = "off".to_owned(), "fsync = off");
    is(
        |s| s.full_page_writes = "off".to_owned(),
        "full_page_writes = off",
    );
    is(
        |s| s.synchronous_commit = "off".to_owned(),
        "synchronous_commit = off",
    );
    let local = |s: &mut Settings| {
        s.synchronous_commit = "local".to_owned();
        s.standbys = "ANY 1 (a, b)".to_owned();
    };
    is(local, "synchronous_commit = local");
    let serializable = |s: &mut Settings| s.isolation = "serializable".to_owned();
    is(serializable, "default_transaction_isolation = serializable");
}

#[test]
fn durable_settings_are_accepted() {
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|s| s.synchronous_commit = "local".to_owned()), None);
    assert_eq!(
        refused(|s| s.synchronous_commit = "remote_apply".to_owned()),
        None
    );
}
