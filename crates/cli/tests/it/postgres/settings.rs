//! Settings of the database: unsafe databases are rejected, and passwords are not displayed.

use everstep_private_postgres::Server as Database;

use super::key;
use crate::server::Server;
use crate::{command, everstep, stderr, stdout};

fn serve<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--store", url];
    [&serve[..], more].concat()
}

#[test]
fn a_database_that_can_lose_commits_is_rejected_unless_allowed() {
    let database = Database::start(&[("fsync", "off")]);
    let url = database.url();
    let refused = everstep(&serve(&url, &[]));
    assert_eq!(refused.status.code(), Some(3));
    let said = stderr(&refused);
    assert!(
        said.contains("fsync = off") && said.contains("[store_unsafe]"),
        "{said}"
    );
    let create = ["key", "create", "ops", "--scope", "admin", "--store", &url];
    assert_eq!(everstep(&create).status.code(), Some(3));
    let allowed = everstep(&serve(&url, &["--allow-lossy"]));
    let said = stderr(&allowed);
    assert!(
        said.contains("there is no API key"),
        "it was opened: {said}"
    );
}

#[test]
fn namespaces_have_separate_keys() {
    let database = Database::start(&[]);
    let url = database.url();
    let of_payments = key(&database, "payments");
    let payments = Server::start(&serve(&url, &["--namespace", "payments"]));
    assert!(
        payments
            .run(&["list", "--key", &of_payments])
            .status
            .success()
    );
    let other = everstep(&serve(&url, &["--namespace", "orders"]));
    assert_eq!(other.status.code(), Some(2));
    let said = stderr(&other);
    assert!(said.contains("--namespace orders"), "{said}");
}

#[test]
fn passwords_are_not_displayed() {
    let url = "postgres://ada:secret@127.0.0.1:1/app";
    let shown = everstep(&["config", "--json", "--config", "/dev/null"]);
    assert!(stdout(&shown).contains("\"roles\""));
    let with_url = |arguments: &[&str]| {
        let output = command(arguments)
            .env("EVERSTEP_STORE", url)
            .output()
            .unwrap();
        format!("{}{}", stdout(&output), stderr(&output))
    };
    for arguments in [
        &["config"][..],
        &["config", "--json"],
        &["serve", "--listen", "127.0.0.1:0", "--log", "trace"],
        &["key", "list", "--on-store"],
    ] {
        let said = with_url(arguments);
        assert!(!said.contains("secret@"), "{said}");
        assert!(
            said.contains("postgres://ada:***@127.0.0.1:1/app"),
            "{said}"
        );
    }
}

#[test]
fn the_only_node_of_a_directory_needs_all_roles() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let refused = everstep(&["serve", "--data", data, "--roles", "api"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(said.contains("needs all roles, not only api"), "{said}");
    let unknown = everstep(&["serve", "--data", data, "--roles", "api,workers"]);
    assert_eq!(unknown.status.code(), Some(2));
    let said = stderr(&unknown);
    assert!(said.contains("a list of api, worker, timers"), "{said}");
}

// B560
#[test]
fn settings_are_checked_before_the_address_is_bound() {
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = occupied.local_addr().unwrap().to_string();
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    for (wrong, message) in [
        (["--roles", "api"], "needs all roles"),
        (["--tls-key", "/nonexistent.pem"], "needs a private key"),
        (["--store", "postgres://[/"], "invalid database URL"),
    ] {
        let serve = ["serve", "--listen", &address, "--data", data];
        // `--store` and `--data` exclude each other.
        let serve = if wrong[0] == "--store" {
            &serve[..3]
        } else {
            &serve[..]
        };
        let output = everstep(&[serve, &wrong].concat());
        let said = stderr(&output);
        assert!(said.contains(message), "{wrong:?}: {said}");
    }
    assert!(!std::path::Path::new(data).exists(), "the store was opened");
    let output = everstep(&["serve", "--listen", &address, "--data", data]);
    let said = stderr(&output);
    assert!(said.contains("there is no API key"), "{said}");
}
