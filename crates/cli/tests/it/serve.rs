//! `everstep serve`: API keys and TLS.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::server::Server;
use crate::{command, everstep, stderr, stdout};

const ADA: &str = r#"{"name":"Ada"}"#;

pub(crate) fn key(data: &str, scopes: &str) -> String {
    let output = everstep(&["key", "create", "ops", "--scope", scopes, "--data", data]);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

/// Creates a certificate for `localhost`. Returns the paths of the root, the chain and the key.
fn certificate(folder: &Path) -> [String; 3] {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let paths = ["root.pem", "chain.pem", "key.pem"].map(|name| folder.join(name));
    let texts = [
        made.cert.pem(),
        made.cert.pem(),
        made.signing_key.serialize_pem(),
    ];
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).unwrap();
    }
    paths.map(|path| path.to_str().unwrap().to_owned())
}

#[test]
fn keys_in_a_store_have_the_exit_codes_of_keys_on_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let create = [
        "key",
        "create",
        "r",
        "--scope",
        "read",
        "--streams",
        "/a",
        "--data",
        data,
    ];
    let revoke: &[&str] = &["key", "revoke", "0123", "--data", data];
    for (arguments, code, part) in [
        (create.as_slice(), 2, "--streams acme/"),
        (revoke, 6, "[unknown_key]"),
    ] {
        let output = everstep(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

// B852
#[test]
fn without_a_key_it_does_not_start_and_explains_how_to_create_one() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("my data");
    let data = data.to_str().unwrap();
    let output = everstep(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    let remedy = format!("everstep key create ops --scope admin --data '{data}'");
    assert!(said.contains(&remedy), "{said}");
}

#[test]
fn other_machines_need_tls_or_a_proxy() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    key(data, "admin");
    let output = everstep(&["serve", "--listen", "0.0.0.0:0", "--data", data]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--behind-proxy"));
    let proxied = [
        "serve",
        "--listen",
        "0.0.0.0:0",
        "--data",
        data,
        "--behind-proxy",
    ];
    let server = Server::start(&proxied);
    assert_eq!(server.interrupt(), Some(130));
}

#[test]
fn clients_use_keys_and_tls() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let admin = key(data, "admin");
    let [root, chain, private] = certificate(directory.path());
    let mut server = Server::start(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        data,
        "--demo",
        "--tls-certificate",
        &chain,
        "--tls-key",
        &private,
    ]);
    server.url = server.url.replace("127.0.0.1", "localhost");
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let with = |key: &str, arguments: &[&str]| {
        let mut command = command(arguments);
        command.args(["--server", &server.url]);
        command
            .env("EVERSTEP_KEY", key)
            .env("EVERSTEP_ROOT_CERTIFICATE", &root);
        command.output().unwrap()
    };
    let started = with(&admin, &["start", "hello", ADA, "--id", "h", "--wait"]);
    assert!(started.status.success(), "{}", stderr(&started));
    let made = with(&admin, &["key", "create", "reader", "--scope", "read"]);
    let reader = stdout(&made).trim().to_owned();
    assert!(with(&reader, &["show", "h"]).status.success());
    for (key, arguments, part) in [
        (reader.as_str(), vec!["start", "hello", ADA], "[forbidden]"),
        ("evk_nonsense", vec!["list"], "[unauthenticated]"),
    ] {
        let refused = with(key, &arguments);
        assert_eq!(refused.status.code(), Some(5), "{arguments:?}");
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
    }
    let untrusting = server.run(&["list", "--key", &admin]);
    assert_eq!(untrusting.status.code(), Some(4));
    assert!(stderr(&untrusting).contains("no secure connection"));
    let listed = with(&admin, &["key", "list", "--json"]);
    let listed = stdout(&listed);
    assert!(
        !listed.contains(&reader) && listed.lines().count() == 2,
        "{listed}"
    );
    let id = &reader[4..20];
    assert!(with(&admin, &["key", "revoke", id]).status.success());
    assert_eq!(with(&reader, &["show", "h"]).status.code(), Some(5));
}

#[cfg(unix)]
fn modes(path: &Path, found: &mut Vec<(String, u32)>) {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).unwrap();
    let mode = metadata.permissions().mode() & 0o777;
    found.push((path.display().to_string(), mode));
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            modes(&entry.unwrap().path(), found);
        }
    }
}

// B336
#[cfg(unix)]
#[test]
fn other_users_have_no_access_to_any_file_of_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    key(data.to_str().unwrap(), "admin");
    let mut found = Vec::new();
    modes(&data, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for (path, mode) in found {
        assert_eq!(mode & 0o077, 0, "{path} has mode {mode:o}");
    }
}

// B336
#[cfg(unix)]
#[test]
fn a_store_that_other_users_can_read_causes_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let serve = || {
        stderr(&everstep(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--data",
            data,
        ]))
    };
    let remedy = format!("chmod -R go= {data}");
    let said = serve();
    assert!(!said.contains(&remedy), "{said}");
    fs::set_permissions(data, fs::Permissions::from_mode(0o750)).unwrap();
    let said = serve();
    assert!(said.contains(&remedy), "{said}");
}

// B560
#[test]
fn keys_are_checked_before_the_address_is_bound() {
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let serve = |options: &[&str]| {
        let serve = ["serve", "--listen", &address, "--data", data];
        let output = everstep(&[&serve[..], options].concat());
        (output.status.code(), stderr(&output))
    };
    for (options, part) in [
        (&["--roles", "api"][..], "needs all roles"),
        (&["--origins", "notanorigin"], "`origins`"),
        (&[], "there is no API key"),
    ] {
        let (code, said) = serve(options);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    key(data, "admin");
    let (code, said) = serve(&["--otlp-endpoint", "nowhere"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`otlp_endpoint`"), "{said}");
    let (code, said) = serve(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains(&format!("cannot listen on {address}")),
        "{said}"
    );
}

#[cfg(unix)]
/// Serves until the directory of the store is removed. Returns the exit code and stderr.
fn without_its_directory(serve: &[&str], data: &str, admin: &str) -> (Option<i32>, String) {
    let mut child = command(&[serve, &["--data", data, "--json"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = line["listening"].as_str().unwrap();
    fs::remove_dir_all(data).unwrap();
    let started = everstep(&["start", "hello", ADA, "--server", url, "--key", admin]);
    let refused = stderr(&started);
    assert!(refused.contains("store_poisoned"), "{refused}");
    assert!(lines.count() <= 1, "it says at most that it shuts down");
    let output = child.wait_with_output().unwrap();
    (output.status.code(), stderr(&output))
}

// B801
#[cfg(unix)]
#[test]
fn a_server_whose_store_accepts_no_writes_ends_with_the_code_for_its_supervisor() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    for command in ["serve", "dev"] {
        let admin = key(data, "admin");
        let serve = ["serve", "--demo", "--listen", "127.0.0.1:0"];
        let (code, said) = match command {
            "serve" => without_its_directory(&serve, data, &admin),
            _ => without_its_directory(&["dev", "--port", "0"], data, &admin),
        };
        assert_eq!(code, Some(3), "{command}: {said}");
        assert!(said.contains("store_poisoned"), "{said}");
        let logged = said.lines().filter(|line| line.contains(" ERROR "));
        assert_eq!(logged.count(), 1, "{said}");
    }
}

// B804
#[test]
fn a_server_deletes_runs_whose_retention_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let admin = key(data, "admin");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data, "--demo"];
    let serve = [&serve[..], &["--retention", "completed=1ms"]].concat();
    let interval = ("EVERSTEP_RETENTION_INTERVAL".to_owned(), "10ms".to_owned());
    let server = Server::start_with(&serve, &[interval]);
    let expense = r#"{"amount":200,"description":"Desk","submittedBy":"ada@example.com"}"#;
    for (workflow, input, id) in [("expense", expense, "kept"), ("hello", ADA, "gone")] {
        server.output_with_key(&admin, &["start", workflow, input, "--id", id]);
    }
    let show = |id: &str| {
        let mut show = command(&["show", id, "--server", &server.url]);
        show.env("EVERSTEP_KEY", &admin).output().unwrap()
    };
    while show("gone").status.code() != Some(6) {}
    assert!(show("kept").status.success());
}

// B860, B862
#[test]
fn a_run_whose_workflow_is_not_served_after_a_restart_is_queued_once_it_is_woken() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let admin = key(data, "admin");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data];
    let server = Server::start(&[&serve[..], &["--demo"]].concat());
    let dinner = r#"{"amount":1500,"description":"Dinner","submittedBy":"ada@example.com"}"#;
    server.output_with_key(&admin, &["start", "expense", dinner, "--id", "expense-1"]);
    let status = |server: &Server| server.output_with_key(&admin, &["status", "expense-1"]);
    while status(&server) != "waiting\n" {}
    assert_eq!(server.terminate(), Some(0));

    let server = Server::start(&serve);
    assert_eq!(status(&server), "waiting\n");
    let answer = [
        "answer",
        "expense-1",
        "approveExpense",
        r#"{"approved":true}"#,
    ];
    server.output_with_key(&admin, &answer);
    assert_eq!(status(&server), "queued\n");
    let listed = server.output_with_key(&admin, &["list", "--status", "queued"]);
    assert!(listed.contains("expense-1"), "{listed}");
    for command in ["show", "why"] {
        let printed = server.output_with_key(&admin, &[command, "expense-1"]);
        assert!(printed.starts_with("expense-1 is queued"), "{printed}");
        let reason = "no live worker that offers workflow `expense`";
        assert!(printed.contains(reason), "{printed}");
    }
}
