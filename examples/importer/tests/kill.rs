//! Runs the program, kills it with SIGKILL, and runs it again.
#![allow(clippy::unwrap_used, reason = "a test stops where something is wrong")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PAGES: u64 = 20_000;

fn spawn(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_everstep-importer"))
        .arg(folder)
        .arg(PAGES.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.lines().map(Result::unwrap)
}

/// Returns the number between these words in the first line that has them.
fn number(lines: &[String], before: &str, after: &str) -> u64 {
    let found = lines.iter().find_map(|line| {
        let (number, _) = line.strip_prefix(before)?.split_once(after)?;
        number.parse().ok()
    });
    found.unwrap_or_else(|| panic!("no line `{before}…{after}` in {lines:#?}"))
}

#[test]
fn killed_and_run_again_it_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn(folder.path());
    let seen = lines(&mut child).find(|line| line.starts_with("copied page "));
    child.kill().unwrap();
    child.wait().unwrap();
    let seen = number(&[seen.unwrap()], "copied page ", ".");
    assert!((1..PAGES).contains(&seen), "page {seen}");

    let mut child = spawn(folder.path());
    let output: Vec<_> = lines(&mut child).collect();
    assert!(child.wait().unwrap().success(), "{output:#?}");
    assert!(number(&output, "continuing after page ", ";") >= seen);
    assert_eq!(number(&output, "Copied ", " pages"), PAGES);
    // Everything in the journal was durable and is not copied again.
    let rows = number(&output, "This process copied ", " rows");
    assert!(rows <= (PAGES - seen) * 10, "{rows} rows after page {seen}");
}
