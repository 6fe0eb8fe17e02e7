//! Help, error codes and invalid arguments.

use crate::{everstep, stderr, stdout};

#[test]
fn an_error_code_is_explained() {
    let output = everstep(&["explain", "store_locked"]);
    assert!(output.status.success());
    assert!(stdout(&output).starts_with("# store_locked\n"));
}

#[test]
fn all_error_codes_are_listed_with_a_summary() {
    let output = everstep(&["explain"]);
    assert!(output.status.success());
    let listed = stdout(&output);
    for code in everstep::ErrorCode::ALL {
        let line = listed.lines().find(|line| line.starts_with(code.as_str()));
        assert!(
            line.is_some_and(|line| line.len() > code.as_str().len() + 10),
            "{code}"
        );
    }
}

#[test]
fn an_unknown_error_code_is_a_usage_error() {
    let output = everstep(&["explain", "locked"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.starts_with("error: unknown error code `locked`"),
        "{said}"
    );
    assert!(said.contains("store_locked"), "{said}");
}

#[test]
fn errors_are_json_with_the_json_flag() {
    let output = everstep(&["list", "--json", "--server", "ftp://nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    let report: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("begin with http://"), "{message}");
    assert_eq!(report["error"]["exitCode"], 2);
    for line in stdout(&everstep(&["explain", "--json"])).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["code"].is_string() && line["summary"].is_string());
    }
    let page = stdout(&everstep(&["explain", "store_locked", "--json"]));
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page["code"], "store_locked");
}

#[test]
fn invalid_arguments_have_the_documented_exit_code() {
    let wrong: &[&[&str]] = &[
        &[],
        &["fly"],
        &["dev", "--speed"],
        &["dev", "--memory", "--data", "x"],
        &["bench", "sideways"],
        &["bench", "seq10", "--seconds", "0"],
        &["bench", "throughput", "--in-flight", "0"],
    ];
    for arguments in wrong {
        let output = everstep(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
}

/// Returns the commands that the help lists.
fn commands(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

// B545
#[test]
fn commands_have_aliases() {
    let help = stdout(&everstep(&["--help"]));
    for (command, alias) in [
        ("list", "ls"),
        ("show", "describe"),
        ("tail", "logs"),
        ("send", "signal"),
    ] {
        assert!(help.contains(&format!("[alias: {alias}]")), "{help}");
        let usage = stdout(&everstep(&[alias, "--help"]));
        assert!(
            usage.contains(&format!("Usage: everstep {command} ")),
            "{usage}"
        );
    }
}

// B548, B549
#[test]
fn usage_errors_and_unreachable_servers_are_json_too() {
    for (arguments, code, exit, message) in [
        (
            vec!["start", "--json"],
            serde_json::Value::Null,
            2,
            "required arguments",
        ),
        (
            vec!["list", "--status", "bogus", "--json"],
            serde_json::Value::Null,
            2,
            "'--status <STATUS>'",
        ),
        (vec!["--json", "fly"], serde_json::Value::Null, 2, "'fly'"),
        (
            vec!["list", "--json", "--server", "http://127.0.0.1:1"],
            "server_unreachable".into(),
            4,
            "nothing listens",
        ),
    ] {
        let output = everstep(&arguments);
        assert_eq!(output.status.code(), Some(exit), "{arguments:?}");
        let report: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
        let error = &report["error"];
        let said = error["message"].as_str().unwrap();
        assert!(
            said.contains(message) && !said.contains("error: "),
            "{said}"
        );
        assert_eq!((&error["code"], &error["exitCode"]), (&code, &exit.into()));
        assert!(!error["remedy"].as_str().unwrap().is_empty(), "{report}");
    }
}

// B552
#[test]
fn a_wrong_value_names_its_flag_and_shows_an_example() {
    for (arguments, flag, example) in [
        (vec!["start", "w", "--deadline", "soon"], "--deadline", "2h"),
        (vec!["start", "w", "--id", "bad id"], "--id", "order-7"),
        (vec!["start", "w", "--id", "."], "--id", "order-7"),
        (vec!["fork", "a", "--id", "bad id"], "--id", "order-7"),
        (vec!["send", "a", "e", "--reply", "x"], "--reply", "30s"),
        (vec!["token", "a", "--lifetime", "x"], "--lifetime", "10m"),
        (
            vec!["list", "--created-from", "x"],
            "--created-from",
            "2026-11-15",
        ),
        (
            vec!["pause", "--created-before", "x"],
            "--created-before",
            "2h",
        ),
        (
            vec!["list", "--status", "fail"],
            "--status",
            "did you mean failed?",
        ),
        (
            vec!["list", "--status", "bogus"],
            "--status",
            "queued, running",
        ),
        (vec!["show", "bad id"], "<RUN>", "order-7"),
    ] {
        let output = everstep(&arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(
            said.contains(flag) && said.contains(example),
            "{arguments:?}: {said}"
        );
    }
}

// B545
#[test]
fn help_contains_exit_codes_and_examples() {
    let help = stdout(&everstep(&["--help"]));
    for part in ["Exit codes:", "130", "Examples:", "everstep dev"] {
        assert!(help.contains(part), "{part}");
    }
    for command in commands(&help) {
        let help = stdout(&everstep(&[&command, "--help"]));
        let example = format!("\n  everstep {command} ");
        let is_shown = help.contains(&example) || help.contains(&example.replace(" \n", "\n"));
        assert!(help.contains("Examples:") && is_shown, "{command}: {help}");
    }
}
