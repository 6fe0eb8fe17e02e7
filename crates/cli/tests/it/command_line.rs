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

#[test]
fn help_contains_exit_codes_and_examples() {
    let help = stdout(&everstep(&["--help"]));
    for part in ["Exit codes:", "130", "Examples:", "everstep dev"] {
        assert!(help.contains(part), "{part}");
    }
    let commands = "dev serve start list show tail why send answer cancel restart fork skip edit fail export token key \
                    config bench completions";
    let is_built_in = |command: &&str| *command != "bench" || cfg!(feature = "bench");
    for command in commands.split_whitespace().filter(is_built_in) {
        let help = stdout(&everstep(&[command, "--help"]));
        assert!(help.contains("Examples:"), "{command}");
    }
}
