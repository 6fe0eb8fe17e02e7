//! `everstep check` and `everstep salvage`.

use std::fs;

use crate::server::Server;
use crate::{everstep, stderr, stdout};

const ADA: &str = r#"{"name":"Ada"}"#;

/// Runs three workflows in a new store, and changes one byte of a record of the second.
fn damaged(data: &str) {
    let server = Server::start(&["dev", "--port", "0", "--data", data]);
    for id in ["one", "two", "three"] {
        server.output(&["start", "hello", ADA, "--id", id, "--wait"]);
    }
    server.interrupt();
    let journal = format!("{data}/data/0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    let name = b"workflows/two";
    let at = bytes.windows(name.len()).position(|part| part == name);
    bytes[at.unwrap()] ^= 1;
    fs::write(&journal, bytes).unwrap();
}

// B805, B806
#[test]
fn a_damaged_store_is_checked_and_salvaged_and_the_new_one_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (data, new) = (path("my data"), path("new"));
    damaged(&data);
    let checked = everstep(&["check", "--data", &data]);
    assert_eq!(checked.status.code(), Some(3), "{}", stderr(&checked));
    let said = stdout(&checked);
    assert!(
        said.contains("0.jnl") && said.contains("everstep salvage"),
        "{said}"
    );
    // B852
    let suggested = format!("everstep salvage --data '{data}' --to DIR");
    assert!(said.contains(&suggested), "{said}");
    let served = everstep(&["serve", "--listen", "127.0.0.1:0", "--data", &data]);
    assert_eq!(served.status.code(), Some(3));
    assert!(stderr(&served).contains("everstep salvage"));
    let salvaged = everstep(&["salvage", "--data", &data, "--to", &new]);
    let said = stdout(&salvaged);
    assert!(salvaged.status.success(), "{said}{}", stderr(&salvaged));
    assert!(said.contains("lost: workflows/two"), "{said}");
    let checked = everstep(&["check", "--data", &new]);
    assert!(checked.status.success(), "{}", stdout(&checked));
    let server = Server::start(&["dev", "--port", "0", "--data", &new]);
    for id in ["one", "three"] {
        assert!(server.output(&["show", id]).contains("completed"));
    }
    assert_eq!(server.run(&["show", "two"]).status.code(), Some(6));
    server.output(&["start", "hello", ADA, "--id", "two", "--wait"]);
}

// B806
#[test]
fn an_intact_store_is_intact_and_a_directory_without_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let server = Server::start(&["dev", "--port", "0", "--data", data]);
    let locked = everstep(&["check", "--data", data]);
    assert_eq!(locked.status.code(), Some(3));
    assert!(stderr(&locked).contains("store_locked"));
    server.interrupt();
    let checked = everstep(&["check", "--data", data, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&stdout(&checked)).unwrap();
    assert_eq!(report["damage"], serde_json::json!([]));
    let elsewhere = folder.path().to_str().unwrap();
    let refused = everstep(&["check", "--data", elsewhere]);
    assert_eq!(refused.status.code(), Some(3));
    let full = everstep(&["salvage", "--data", data, "--to", data]);
    assert_eq!(full.status.code(), Some(3));
}
