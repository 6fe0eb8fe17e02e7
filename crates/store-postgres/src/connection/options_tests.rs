//! Addresses and namespaces.

use super::*;

#[test]
fn a_namespace_is_a_plain_name() {
    let options = Options::new("postgres://a:secret@db.example/x").unwrap();
    for good in ["a", "team_2", "everstep"] {
        assert!(options.clone().namespace(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "A",
        "a b",
        "a\"; drop",
        "pg_x",
        "2a",
        "ä",
        &"a".repeat(49),
    ] {
        let refused = options.clone().namespace(bad).unwrap_err();
        assert_eq!(refused.code(), everstep_model::ErrorCode::StoreUnsafe);
    }
    assert!(!format!("{options:?}").contains("secret"));
}

#[test]
fn only_connections_to_other_machines_may_be_unencrypted() {
    let plain = |url: &str| Options::new(url).unwrap().may_be_plain();
    assert!(!plain("postgres://localhost/x"));
    for mode in ["require", "verify-ca", "verify-full"] {
        assert!(!plain(&format!("postgres://db.example/x?sslmode={mode}")));
        assert!(!plain(&format!("host=db.example sslmode={mode}")));
    }
    assert!(plain("postgres://db.example/x"));
}

#[test]
fn an_invalid_address_is_refused_without_showing_it() {
    let refused = Options::new("postgres://user:secret@:nonsense").unwrap_err();
    assert!(!refused.to_string().contains("secret"), "{refused}");
}
