//! What the command line answers to, and how it refuses.

use crate::{everstep, stderr, stdout};

#[test]
fn a_code_is_explained() {
    let output = everstep(&["explain", "store_locked"]);
    assert!(output.status.success());
    assert!(stdout(&output).starts_with("# store_locked\n"));
}

#[test]
fn all_codes_are_listed_with_their_meaning() {
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
fn a_code_that_does_not_exist_is_a_wrong_command_line() {
    let output = everstep(&["explain", "locked"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.starts_with("error: there is no error code `locked`"),
        "{said}"
    );
    assert!(said.contains("store_locked"), "{said}");
}

#[test]
fn programs_are_told_what_went_wrong_in_json_too() {
    let output = everstep(&["list", "--json", "--server", "ftp://nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    let told: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("begins with http://"), "{message}");
    assert_eq!(told["error"]["exitCode"], 2);
    for line in stdout(&everstep(&["explain", "--json"])).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["code"].is_string() && line["summary"].is_string());
    }
    let page = stdout(&everstep(&["explain", "store_locked", "--json"]));
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page["code"], "store_locked");
}

#[test]
fn wrong_arguments_end_with_the_documented_code() {
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
fn help_documents_the_exit_codes_and_shows_examples() {
    let help = stdout(&everstep(&["--help"]));
    for part in ["Exit codes:", "130", "Examples:", "everstep dev"] {
        assert!(help.contains(part), "{part}");
    }
    let commands = "dev serve start list show tail why send answer cancel restart fork skip edit fail export token key \
                    config bench completions";
    for command in commands.split_whitespace() {
        let help = stdout(&everstep(&[command, "--help"]));
        assert!(help.contains("Examples:"), "{command}");
    }
}
