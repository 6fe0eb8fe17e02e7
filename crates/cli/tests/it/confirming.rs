//! Confirmation and progress on a terminal.

use crate::server::Server;
use crate::terminal::Terminal;

const DINNER: &str =
    r#"{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}"#;

fn server_with_two_runs() -> Server {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    for id in ["e-1", "e-2"] {
        server.output(&["start", "expense", DINNER, "--id", id]);
    }
    server
}

fn runs(server: &Server) -> usize {
    server.output(&["list", "--json"]).lines().count()
}

// B557
#[test]
fn deleting_many_runs_is_confirmed_on_a_terminal() {
    let server = server_with_two_runs();
    for answer in ["", "n", "2"] {
        let mut terminal = Terminal::start(&server, &["delete", "--all"]);
        terminal.until("delete 2 runs? [y/N] ");
        terminal.type_line(answer);
        let (shown, code) = terminal.end();
        assert_eq!(code, Some(1), "{shown}");
        assert!(
            shown.contains("not confirmed; no run was changed"),
            "{shown}"
        );
        assert_eq!(runs(&server), 2);
    }
    let mut terminal = Terminal::start(&server, &["terminate", "--type", "expense"]);
    terminal.until("terminate 2 runs? [y/N] ");
    terminal.type_line("y");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("2 runs: 2 changed, 0 refused"), "{shown}");
    let (shown, code) = Terminal::start(&server, &["delete", "--all", "--yes"]).end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert_eq!(runs(&server), 0);
}

// B557
#[test]
fn scripts_and_named_runs_are_not_asked() {
    let server = server_with_two_runs();
    let (shown, code) = Terminal::start(&server, &["terminate", "e-1", "e-2"]).end();
    assert_eq!(code, Some(0), "{shown}");
    server.output(&["delete", "--all"]);
    assert_eq!(runs(&server), 0);
}

// B558
#[test]
fn a_terminal_shows_the_progress_of_bulk_requests_and_of_waiting() {
    let mut server = server_with_two_runs();
    let (shown, _) = Terminal::start(&server, &["pause", "e-1", "e-2"]).end();
    assert!(shown.contains("pause ░"), "{shown}");
    assert!(shown.contains("0/2"), "{shown}");
    server.output(&["start", "expense", DINNER, "--id", "e-3"]);
    server.until("workflow:rpc_requested");
    let mut waiting = Terminal::start(&server, &["show", "e-3", "--wait"]);
    waiting.until("e-3 is waiting (");
    server.output(&["terminate", "e-3"]);
    let (shown, code) = waiting.end();
    assert_eq!(code, Some(8), "{shown}");
    // The progress is erased before the result.
    assert!(shown.contains("\r\u{1b}[2K"), "{shown}");
    assert!(
        shown.trim_end().ends_with("terminated\u{1b}[0m"),
        "{shown:?}"
    );
}
