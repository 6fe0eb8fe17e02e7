//! What is set about the database: refused where it would lose something, and never shown with its password.

use everstep_private_postgres::Server as Database;

use super::key;
use crate::server::Server;
use crate::{everstep, stderr, stdout};

fn serve<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--store", url];
    [&serve[..], more].concat()
}

#[test]
fn a_database_that_loses_commits_is_refused_by_name_unless_allowed() {
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
    assert!(said.contains("there is no key"), "it was opened: {said}");
}

#[test]
fn installations_in_one_database_have_keys_of_their_own() {
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
fn a_password_is_shown_nowhere() {
    let url = "postgres://ada:secret@127.0.0.1:1/app";
    let shown = everstep(&["config", "--json", "--config", "/dev/null"]);
    assert!(stdout(&shown).contains("\"roles\""));
    let with_url = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_everstep"));
        command.args(arguments).env("EVERSTEP_STORE", url);
        let output = command.output().unwrap();
        format!("{}{}", stdout(&output), stderr(&output))
    };
    for arguments in [
        &["config"][..],
        &["config", "--json"],
        &["serve", "--log", "trace"],
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
fn a_directory_has_one_node_that_does_everything() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let refused = everstep(&["serve", "--data", data, "--roles", "api"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(said.contains("does everything, not only api"), "{said}");
    let unknown = everstep(&["serve", "--data", data, "--roles", "api,workers"]);
    assert_eq!(unknown.status.code(), Some(2));
    let said = stderr(&unknown);
    assert!(said.contains("made of api, worker, timers"), "{said}");
}
