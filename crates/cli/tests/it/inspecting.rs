//! Commands that show runs, workflows and the server.

use std::io::{BufRead, BufReader};

use crate::server::Server;
use crate::{command, stdout};

const ADA: &str = r#"{"name":"Ada"}"#;
const TEA: &str = r#"{"item":"tea","amount":3}"#;

fn server() -> Server {
    Server::start(&["dev", "--port", "0", "--memory"])
}

// B565
#[test]
fn workflows_are_listed_with_their_events_and_rpcs() {
    let server = server();
    let listed = server.output(&["workflows"]);
    let order = listed.lines().find(|line| line.starts_with("order"));
    for part in ["version 1", "approval", "confirmOrder"] {
        assert!(order.unwrap().contains(part), "{part}: {listed}");
    }
    let lines = server.output(&["workflows", "--json"]);
    let names: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|it| it["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["expense", "hello", "order", "payment"]);
}

// B565
#[test]
fn the_shape_is_a_flowchart_or_data() {
    let server = server();
    server.output(&["start", "hello", ADA, "--id", "h", "--wait"]);
    let chart = server.output(&["shape", "h"]);
    assert!(chart.starts_with("flowchart"), "{chart}");
    assert!(chart.contains("find-address"), "{chart}");
    assert!(server.json(&["shape", "h"]).is_object() || server.json(&["shape", "h"]).is_array());
}

// B547, B565
#[test]
fn the_timeline_has_local_times_and_dates() {
    let server = server();
    server.output(&["start", "hello", ADA, "--id", "h", "--wait"]);
    let first = server.output(&["timeline", "h", "--json"]);
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let time = first["time"].as_str().unwrap();
    let hour: u32 = time[11..13].parse().unwrap();
    for verb in ["timeline", "tail"] {
        let mut command = command(&[verb, "h"]);
        command
            .env("EVERSTEP_SERVER", &server.url)
            .env("TZ", "JST-9");
        let printed = stdout(&command.output().unwrap());
        let mut lines = printed.lines();
        assert!(lines.next().unwrap().ends_with("(UTC+09:00)"), "{printed}");
        let expected = format!("{:02}{}", (hour + 9) % 24, &time[13..23]);
        assert!(lines.next().unwrap().starts_with(&expected), "{printed}");
    }
}

// B565
#[test]
fn the_status_is_one_word() {
    let mut server = server();
    server.output(&["start", "order", TEA, "--id", "o"]);
    server.until("workflow:waiting");
    assert_eq!(server.output(&["status", "o"]), "waiting\n");
    assert_eq!(server.json(&["status", "o"])["status"], "waiting");
    let overview = server.output(&["status"]);
    assert!(
        overview.contains("is ready, with 4 workflows"),
        "{overview}"
    );
    assert!(overview.contains("waiting   1"), "{overview}");
    assert_eq!(server.json(&["status"])["unfinished"]["waiting"], 1);
    assert_eq!(server.run(&["status", "nothing"]).status.code(), Some(6));
}

// B566
#[test]
fn a_watched_list_shows_changes() {
    let mut server = server();
    server.output(&["start", "order", TEA, "--id", "o"]);
    server.until("workflow:waiting");
    let mut client = server.spawn_client(&["list", "--watch", "--json"]);
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut next =
        || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["status"], "waiting");
    server.output(&["terminate", "o"]);
    assert_eq!(next()["status"], "terminated");
    client.kill().unwrap();
    client.wait().unwrap();
}

// B567
#[test]
fn a_run_is_opened_as_a_page_in_the_browser() {
    let server = server();
    let name = r#"{"name":"<b>Ada</b>"}"#;
    server.output(&["start", "hello", name, "--id", "h", "--wait"]);
    let mut command = command(&["open", "h"]);
    // A browser that prints the page.
    command
        .env("EVERSTEP_SERVER", &server.url)
        .env("BROWSER", "cat");
    let output = command.output().unwrap();
    let printed = stdout(&output);
    assert!(output.status.success(), "{printed}");
    for part in [
        "h is completed",
        "find-address:0",
        "Run completed",
        "&lt;b&gt;",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains("<b>"), "{printed}");
    let file = printed.lines().last().unwrap();
    std::fs::remove_file(file).unwrap();
}

// B546
#[test]
fn why_names_the_error_of_a_failed_run_and_the_command_to_recover() {
    let server = server();
    let start = ["start", "hello", r#"{"name":"!"}"#, "--id", "h", "--wait"];
    assert_eq!(server.run(&start).status.code(), Some(8));
    let why = server.output(&["why", "h"]);
    for part in [
        "is over (failed) in `find-address:0`: ",
        "invalid name",
        "everstep recover h",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

// B559
#[test]
fn waits_are_shown_with_the_location_that_other_commands_take() {
    let mut server = server();
    server.output(&["start", "order", TEA, "--id", "o"]);
    server.until("workflow:waiting");
    let shown = server.output(&["show", "o"]);
    assert!(
        shown.contains("waiting for event `approval` in `approval:0`"),
        "{shown}"
    );
    server.output(&["fail", "o", "--step", "approval:0", "--reason", "no"]);
    let ended = server.run(&["show", "o", "--wait"]);
    assert_eq!(ended.status.code(), Some(8));
}

// B564
#[test]
fn an_order_is_undone_when_it_fails_or_is_cancelled() {
    let mut server = server();
    let undone = |server: &Server, run| {
        let steps = server.json(&["show", run]);
        let steps = steps["steps"].as_array().unwrap().clone();
        let undone = steps.iter().filter(|step| step["status"] == "undone");
        undone
            .map(|step| step["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for (run, verb, status) in [
        ("o-1", vec!["cancel", "o-1"], "cancelled"),
        ("o-2", vec!["fail", "o-2", "--reason", "no tea"], "failed"),
        (
            "o-3",
            vec!["answer", "o-3", "confirmOrder", "false"],
            "failed",
        ),
    ] {
        server.output(&["start", "order", TEA, "--id", run]);
        server.output(&["send", run, "approval", r#"{"by":"ada"}"#]);
        server.until("workflow:rpc_requested");
        server.output(&verb);
        assert_eq!(server.run(&["show", run, "--wait"]).status.code(), Some(8));
        assert_eq!(server.json(&["show", run])["status"], status);
        assert_eq!(undone(&server, run), ["reserve:0", "charge:0"]);
    }
}

// B569
#[test]
fn earlier_generations_can_be_inspected() {
    let server = server();
    let start = ["start", "hello", r#"{"name":"!"}"#, "--id", "h", "--wait"];
    assert_eq!(server.run(&start).status.code(), Some(8));
    let first = server.output(&["timeline", "h", "--json"]);
    server.output(&["restart", "h", "--reason", "once more"]);
    assert_eq!(server.run(&["show", "h", "--wait"]).status.code(), Some(8));
    for (run, generation) in [("h@1", 1), ("h@2", 2), ("h", 2)] {
        let shown = server.json(&["show", run]);
        assert_eq!(
            (&shown["id"], &shown["generation"]),
            (&"h".into(), &generation.into())
        );
        assert_eq!(shown["status"], "failed");
    }
    assert_eq!(server.output(&["timeline", "h@1", "--json"]), first);
    assert_ne!(server.output(&["timeline", "h", "--json"]), first);
    let tailed = server.run(&["tail", "h@1", "--json"]);
    assert_eq!(tailed.status.code(), Some(8));
    assert_eq!(crate::stdout(&tailed), first);
    assert!(server.output(&["shape", "h@1"]).contains("find-address"));
    assert_eq!(
        server.output(&["export", "h@1"]).lines().count(),
        first.lines().count()
    );
    assert_eq!(server.output(&["status", "h@1"]), "failed\n");
    let waited = server.run(&["show", "h@1", "--wait"]);
    assert_eq!(waited.status.code(), Some(8));
    for (unknown, reason) in [
        ("h@3", "run `h` has no generation 3"),
        ("nothing@1", "no run with id `nothing` exists"),
    ] {
        let refused = server.run(&["show", unknown]);
        assert_eq!(refused.status.code(), Some(6));
        let said = crate::stderr(&refused);
        assert!(said.contains(reason), "{said}");
    }
}
