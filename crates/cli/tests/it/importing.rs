//! `everstep export` and `everstep import` between two servers.

use crate::server::Server;
use crate::stderr;

const ADA: &str = r#"{"name":"Ada"}"#;
const EXPENSE: &str = r#"{"amount":200,"description":"Desk","submittedBy":"ada@example.com"}"#;

// B190
#[test]
fn exported_runs_are_imported_unchanged_and_continue_on_the_new_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let dev = |name: &str| Server::start(&["dev", "--port", "0", "--data", &path(name)]);
    let mut old = dev("old");
    old.output(&["start", "hello", ADA, "--id", "done", "--wait"]);
    old.output(&["start", "expense", EXPENSE, "--id", "open", "--tag", "desk"]);
    old.until("workflow:rpc_requested");
    for id in ["done", "open"] {
        old.output(&["export", id, "--to", &path(id)]);
    }
    old.terminate();
    let new = dev("new");
    for id in ["done", "open"] {
        let said = new.output(&["import", id, "--from", &path(id)]);
        assert!(said.contains(&format!("run `{id}` was imported")), "{said}");
        let again = path("again");
        new.output(&["export", id, "--to", &again]);
        let read = |path: &str| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&again), read(&path(id)));
    }
    let refused = new.run(&["import", "open", "--from", &path("open")]);
    assert_eq!(refused.status.code(), Some(7), "{}", stderr(&refused));
    let refused = new.run(&["import", "other", "--from", &path("old/FORMAT")]);
    assert_eq!(refused.status.code(), Some(7), "{}", stderr(&refused));
    let tagged = new.output(&["list", "--tag", "desk"]);
    assert!(tagged.contains("open"), "{tagged}");
    new.output(&["answer", "open", "approveExpense", r#"{"approved":true}"#]);
    while new.json(&["show", "open"])["status"] != "completed" {}
}
