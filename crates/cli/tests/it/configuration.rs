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
        assert!(stdout(&output).contains("retry-rollback"), "{shell}");
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
