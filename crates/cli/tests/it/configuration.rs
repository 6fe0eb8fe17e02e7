//! Settings: precedence, display and validation.

use std::process::Output;

use crate::{command, everstep, stderr, stdout};

fn in_folder(file: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("everstep.toml"), file).unwrap();
    let mut command = command(arguments);
    command.current_dir(folder.path());
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn current_values_are_shown_with_their_origin() {
    let file = "server = 'http://file'\nlisten = '127.0.0.1:1'\nwaiting_max = 7\n";
    let variables = [
        ("EVERSTEP_LISTEN", "127.0.0.1:2"),
        ("EVERSTEP_KEY", "evk_secret"),
    ];
    let arguments = ["config", "--json", "--server", "http://flag"];
    let output = in_folder(file, &variables, &arguments);
    let shown: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    for (name, value, from) in [
        ("server", serde_json::json!("http://flag"), "--server"),
        (
            "listen",
            serde_json::json!("127.0.0.1:2"),
            "EVERSTEP_LISTEN",
        ),
        ("waiting_max", serde_json::json!(7), "everstep.toml"),
        ("long_poll_timeout", serde_json::json!("30s"), "default"),
        ("key", serde_json::json!("(secret)"), "EVERSTEP_KEY"),
    ] {
        let expected = serde_json::json!({"value": value, "from": from});
        assert_eq!(shown[name], expected, "{name}");
    }
    let table = stdout(&in_folder(file, &variables, &["config"]));
    assert!(
        table.contains("EVERSTEP_LISTEN") && !table.contains("evk_secret"),
        "{table}"
    );
}

#[test]
fn an_unknown_setting_is_rejected_with_a_suggestion() {
    let output = in_folder("lisen = 'x'", &[], &["list"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("everstep.toml: unknown setting `lisen`"),
        "{said}"
    );
    assert!(said.contains("Did you mean `listen`?"), "{said}");
}

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = everstep(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        assert!(stdout(&output).contains("_EVERSTEP_COMPLETE"), "{shell}");
    }
}

#[cfg(unix)]
#[test]
fn the_path_of_a_store_does_not_have_to_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(OsStr::from_bytes(b"data-\xff"));
    let create = || command(&["key", "create", "ops", "--scope", "admin"]);
    let by_flag = create().arg("--data").arg(&data).output().unwrap();
    assert!(by_flag.status.success(), "{}", stderr(&by_flag));
    let mut by_variable = create();
    by_variable.arg("--on-store").env("EVERSTEP_DATA", &data);
    let by_variable = by_variable.output().unwrap();
    assert!(by_variable.status.success(), "{}", stderr(&by_variable));
    let names = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [data]);
}

/// Lists runs with a key from the environment, and returns the exit code and the message.
fn list_with_key(file: &str, variables: &[(&str, &str)], arguments: &[&str]) -> (i32, String) {
    let variables = [&[("EVERSTEP_KEY", "evk_x")], variables].concat();
    let output = in_folder(file, &variables, &[&["list"], arguments].concat());
    (output.status.code().unwrap(), stderr(&output))
}

// B445
#[test]
fn the_key_is_not_sent_to_a_server_that_a_file_of_the_directory_names() {
    let foreign = "server = 'http://127.0.0.1:9'";
    let (exit, message) = list_with_key(foreign, &[], &[]);
    assert_eq!(exit, 2, "{message}");
    assert!(
        message.contains("EVERSTEP_SERVER=http://127.0.0.1:9"),
        "{message}"
    );
    // 4: the server was called, and nothing listens there.
    let named = [("EVERSTEP_SERVER", "http://127.0.0.1:9")];
    assert_eq!(list_with_key(foreign, &named, &[]).0, 4);
    let by_flag = ["--server", "http://127.0.0.1:9"];
    assert_eq!(list_with_key(foreign, &[], &by_flag).0, 4);
    let by_name = [("EVERSTEP_CONFIG", "everstep.toml")];
    assert_eq!(list_with_key(foreign, &by_name, &[]).0, 4);
    let with_key = "server = 'http://127.0.0.1:9'\nkey = 'evk_y'\n";
    let of_file = in_folder(with_key, &[], &["list"]);
    assert_eq!(
        of_file.status.code(),
        Some(4),
        "the file has a key of its own"
    );
}

// B446
#[test]
fn the_key_is_not_sent_to_other_machines_over_plain_http() {
    let plain = [("EVERSTEP_SERVER", "http://everstep.invalid:9")];
    let (exit, message) = list_with_key("", &plain, &[]);
    assert_eq!(exit, 2, "{message}");
    assert!(message.contains("EVERSTEP_ALLOW_HTTP=true"), "{message}");
    let allowed = [plain[0], ("EVERSTEP_ALLOW_HTTP", "true")];
    assert_eq!(list_with_key("", &allowed, &[]).0, 4);
    let secure = [("EVERSTEP_SERVER", "https://everstep.invalid:9")];
    assert_eq!(list_with_key("", &secure, &[]).0, 4);
}

// B450
#[test]
fn a_worker_key_without_workflows_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    for more in [vec![], vec!["--data", data]] {
        let arguments = [&["key", "create", "w", "--scope", "work"], more.as_slice()].concat();
        let output = everstep(&arguments);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains("--workflow NAME"), "{more:?}");
    }
}
