//! `cargo xtask conform`: the public conformance suite of the Durable Streams protocol, pinned, against the real server, once
//! per store. Fewer tests than expected are a failure too: a suite that finds none passes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::failure::Failure;
use crate::process::Invocation;
use crate::scratch::Scratch;
use crate::stage::Verdict;
use crate::workspace::{self, target};

/// Tests of the pinned version.
const TESTS: u64 = 338;
/// What of the folder `conformance/durable-streams` is needed to run it elsewhere.
const FILES: [&str; 4] = [
    ".npmrc",
    "package.json",
    "package-lock.json",
    "suite.test.mjs",
];

pub(crate) fn run() -> Result<(), Failure> {
    let suite = install()?;
    let scratch = Scratch::new("conform")?;
    Invocation::cargo(&server_build()).run()?;
    let data = scratch.path("data");
    for (name, store) in [
        ("memory", vec!["--memory"]),
        ("embedded", vec!["--data", &data]),
    ] {
        println!("      on the {name} store");
        let server = Server::start(&store)?;
        let result = scratch.path(&format!("{name}.json"));
        test(&suite, &server.address, &result)?;
        drop(server);
        check(name, &result)?;
    }
    Ok(())
}

/// The stage of `cargo xtask test`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run()?;
    Ok(Verdict::Passed)
}

fn server_build() -> [&'static str; 8] {
    [
        "build",
        "--profile",
        "optimised",
        "--locked",
        "--package",
        "everstep-server",
        "--example",
        "streams",
    ]
}

/// The suite, installed beside what cargo builds, and again whenever its lock file changes.
fn install() -> Result<PathBuf, Failure> {
    let source = workspace::root().join("conformance/durable-streams");
    let folder = target().join("conformance/durable-streams");
    let installed = folder.join("installed.json");
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| unusable(path, &error));
    let lock = read(&source.join("package-lock.json"))?;
    let is_current = fs::read_to_string(&installed).is_ok_and(|known| known == lock);
    fs::create_dir_all(&folder).map_err(|error| unusable(&folder, &error))?;
    for file in FILES {
        let to = folder.join(file);
        fs::copy(source.join(file), &to).map_err(|error| unusable(&to, &error))?;
    }
    if !is_current {
        let place = folder.display().to_string();
        let npm = ["ci", "--no-audit", "--no-fund", "--prefix", &place];
        Invocation::new("npm", &npm).run()?;
        fs::write(&installed, lock).map_err(|error| unusable(&installed, &error))?;
    }
    Ok(folder)
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be used: {error}", path.display()))
}

/// A running server, ended when this is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(store: &[&str]) -> Result<Self, Failure> {
        let program = target().join("optimised/examples/streams");
        let mut child = Command::new(&program)
            .args(["--port", "0", "--long-poll-timeout", "500ms"])
            .args(store)
            .current_dir(workspace::root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unusable(&program, &error))?;
        let mut line = String::new();
        let said = child
            .stdout
            .take()
            .map(|out| BufReader::new(out).read_line(&mut line));
        let address = line.trim().strip_suffix("/v1/stream/").map(str::to_owned);
        match (said, address) {
            (Some(Ok(_)), Some(address)) => Ok(Self { child, address }),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                Err(Failure::new("the server did not say where it listens"))
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn test(suite: &Path, address: &str, result: &str) -> Result<(), Failure> {
    let root = suite.display().to_string();
    let vitest = suite.join("node_modules/vitest/vitest.mjs");
    let vitest = vitest.display().to_string();
    let outcome = format!("--outputFile.json={result}");
    Invocation::new(
        "node",
        &[
            &vitest,
            "run",
            "--root",
            &root,
            "--reporter=dot",
            "--reporter=json",
            &outcome,
        ],
    )
    .variable("CONFORMANCE_TEST_URL", address)
    .variable("CONFORMANCE_SUBSCRIPTIONS", "true")
    .run()
}

fn check(name: &str, result: &str) -> Result<(), Failure> {
    let path = Path::new(result);
    let text = fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
    let passed = number_of(&text, "numPassedTests");
    println!("      {name}: {passed} of {TESTS} passed");
    if passed == TESTS {
        return Ok(());
    }
    Err(Failure::new(format!(
        "on the {name} store {passed} tests passed, not {TESTS}"
    )))
}

/// The number behind a name in the runner's report.
fn number_of(report: &str, name: &str) -> u64 {
    let behind = report.split_once(&format!("\"{name}\":"));
    let digits = behind.map(|(_, rest)| rest.trim_start());
    let end = |rest: &str| {
        rest.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len())
    };
    let digits = digits.and_then(|rest| rest.get(..end(rest)));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_report() {
        let report = r#"{"numTotalTests":338,"numPassedTests": 12,"x":{"numPassedTests":1}}"#;
        assert_eq!(number_of(report, "numPassedTests"), 12);
        assert_eq!(number_of(report, "numFailedTests"), 0);
    }
}
