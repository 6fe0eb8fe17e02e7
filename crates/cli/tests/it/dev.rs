//! `everstep dev`: live output, and recovery after the process was killed.

use std::path::Path;

use everstep::{AnyEvent, Ctx, Engine, Payload, Result, RunStatus, Workflows};

use crate::server::Server;
use crate::{everstep, stderr};

const ADA: &str = r#"{"name":"Ada"}"#;
const PAYMENT: &str = r#"{"customer":"ada","amount":4200}"#;

#[test]
fn records_are_shown_as_they_become_durable() {
    let mut server = Server::start_with_text(&["--memory"]);
    let introduction = server.until("All runs are lost").join("\n");
    for part in [
        "in memory",
        "everstep start hello",
        "everstep tail",
        "everstep list",
    ] {
        assert!(introduction.contains(part), "{part}: {introduction}");
    }
    let said = server.output(&["start", "hello", ADA, "--id", "hello-1", "--wait"]);
    assert!(said.starts_with("hello-1 is completed: "), "{said}");
    let output = server.until("Run completed").join("\n");
    assert!(
        output.contains("hello-1  Run of workflow `hello`"),
        "{output}"
    );
    assert!(!output.contains('\x1b'), "no colours without a terminal");
    assert_eq!(server.interrupt(), Some(130));
}

// B542
#[test]
fn nothing_continues_that_is_in_memory() {
    let mut server = Server::start_with_text(&["--memory"]);
    let mut said = server
        .until("All runs are lost when this server ends")
        .join("\n");
    server.signal("TERM");
    let rest: Vec<String> = server.lines.by_ref().map(Result::unwrap).collect();
    said.push_str(&rest.join("\n"));
    assert!(said.contains("shutting down; the runs end"), "{said}");
    for promise in [
        "start it again",
        "continue where",
        "next start",
        "continuing",
    ] {
        assert!(!said.contains(promise), "{promise}: {said}");
    }
}

// B543
#[test]
fn the_suggested_commands_can_be_pasted() {
    let mut server = Server::start_with_text(&["--memory"]);
    let lines = server.until("All runs are lost");
    let commands = lines.iter().filter(|line| line.starts_with("  everstep "));
    let commands: Vec<&String> = commands.collect();
    assert_eq!(commands.len(), 5);
    for command in commands {
        assert!(
            command.contains(&format!(" --server {}", server.url)),
            "{command}"
        );
        // It ends when another command has answered.
        if !command.contains("everstep tail") {
            server.paste(command);
        }
    }
}

#[test]
fn with_json_every_record_is_one_line() {
    let mut server = Server::start(&["dev", "--port", "0", "--memory"]);
    server.output(&["start", "hello", ADA, "--id", "hello-1"]);
    for line in server.until("workflow:completed") {
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["run"], "hello-1");
        assert!(line["record"]["headers"]["timestamp"].is_string(), "{line}");
    }
}

#[test]
fn runs_continue_after_a_kill_and_completed_steps_are_not_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let mut first = Server::start_with_text(&["--data", data]);
    first.output(&["start", "payment", PAYMENT, "--id", "order-7"]);
    first.until("Step `fetch-user:0` completed");
    first.kill();

    let mut second = Server::start_with_text(&["--data", data]);
    let introduction = second.until("Kill this server").join("\n");
    assert!(
        introduction.contains("continuing 1 unfinished run"),
        "{introduction}"
    );
    let approval = r#"{"approved":true,"reviewer":"grace"}"#;
    second.output(&["send", "order-7", "approval", approval]);
    let output = second.until("Run completed").join("\n");
    assert!(!output.contains("Step `fetch-user:0`"), "{output}");
    assert!(output.contains("Step `charge:0` completed"), "{output}");
}

async fn invoice(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.event_by_name("paid").await.map(drop)
}

/// Leaves runs of a workflow in a store that `everstep dev` does not execute.
async fn leave_invoices(directory: &Path, ids: &[&str]) {
    let engine = Engine::open(directory);
    let engine = engine.workflows(Workflows::new().function("invoice", invoice));
    let engine = engine.start().await.unwrap();
    for id in ids {
        let start = engine.start_by_name("invoice", Payload::null());
        let run = start.id(*id).await.unwrap();
        while run.status().await.unwrap() != RunStatus::Waiting {
            tokio::task::yield_now().await;
        }
    }
    engine.shutdown().await;
}

// B863
#[tokio::test]
async fn runs_of_a_workflow_that_dev_does_not_execute_wait_for_a_worker() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    leave_invoices(&data, &["invoice-1"]).await;
    let data = data.to_str().unwrap();
    let waits = "1 unfinished run waits for a worker that offers `invoice`";

    let mut first = Server::start_with_text(&["--data", data]);
    let introduction = first.until("Kill this server").join("\n");
    assert!(
        introduction.contains(&format!("runs       {waits}\n")),
        "{introduction}"
    );
    first.output(&["send", "invoice-1", "paid"]);
    let shown = first.output(&["show", "invoice-1"]);
    assert!(shown.starts_with("invoice-1 is queued"), "{shown}");
    assert!(
        shown.contains("no live worker that offers workflow `invoice`"),
        "{shown}"
    );
    first.output(&["start", "payment", PAYMENT, "--id", "order-7"]);
    first.until("Step `fetch-user:0` completed");
    first.kill();

    let mut second = Server::start_with_text(&["--data", data]);
    let introduction = second.until("Kill this server").join("\n");
    let runs = format!("runs       continuing 1 unfinished run; {waits}\n");
    assert!(introduction.contains(&runs), "{introduction}");
}

#[test]
fn a_directory_in_use_is_rejected_with_its_error_code() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let _first = Server::start(&["dev", "--port", "0", "--data", data]);
    let output = everstep(&["dev", "--port", "0", "--data", data]);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains("[store_locked]"), "{said}");
    assert!(said.contains("Stop the other process"), "{said}");
}

#[test]
fn a_port_in_use_is_rejected_with_a_suggestion() {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    let port = server.url.rsplit(':').next().unwrap();
    let output = everstep(&["dev", "--port", port, "--memory"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("choose another one with --port"), "{said}");
}

// B555
#[cfg(unix)]
#[test]
fn a_directory_without_permission_is_refused_with_a_remedy() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser can write everywhere. A path below a file is closed to every user.
    let data = match std::fs::write(closed.join("probe"), "x") {
        Ok(()) => closed.join("probe/data"),
        Err(_) => closed.join("data"),
    };
    let refused = crate::everstep(&["dev", "--port", "0", "--data", data.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    let said = stderr(&refused);
    for part in [
        "[store_unavailable]",
        "Name another directory with --data",
        "give this user permission",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

// B555
#[test]
fn a_directory_that_cannot_be_a_store_has_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "no store").unwrap();
    for path in [file.to_str().unwrap(), directory.path().to_str().unwrap()] {
        let output = everstep(&["dev", "--port", "0", "--data", path]);
        assert_eq!(output.status.code(), Some(3), "{path}");
        let said = stderr(&output);
        assert!(
            said.contains("Name another directory with --data"),
            "{said}"
        );
        assert!(!said.contains("automatically"), "{said}");
    }
}
