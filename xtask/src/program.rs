//! The `program` stage: follows the README. It creates a project outside the repository, pastes the
//! program, runs it, kills it and runs it again. Then it tests the lint configuration of the guide
//! on determinism in the same project.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::documents::Document;
use crate::failure::Failure;
use crate::process::Invocation;
use crate::scratch::Scratch;
use crate::stage::Verdict;
use crate::workspace;

/// The time limit of the program, which needs a few seconds.
const LIMIT: Duration = Duration::from_secs(60);
/// The name of the project in the guide.
const PROJECT: &str = "orders";
/// How the documents name this repository from a project beside it.
const BESIDE: &str = "../everstep/";
const GUIDE_WITH_LINT: &str = "docs/guides/determinism.md";
/// Nondeterministic code that the lint must reject.
const NONDETERMINISTIC: &str = "\
fn main() {
    let _ = std::time::SystemTime::now();
    let _ = std::collections::HashMap::<u8, u8>::new();
    let _ = tokio::time::sleep(std::time::Duration::ZERO);
}
";
const EXPECTED_LINTS: &[&str] = &[
    "disallowed method `std::time::SystemTime::now`",
    "disallowed type `std::collections::HashMap`",
    "disallowed method `tokio::time::sleep`",
];

pub(crate) fn run() -> Result<Verdict, Failure> {
    let scratch = Scratch::new("program")?;
    let project = Project::make(&scratch)?;
    project.survives_a_kill()?;
    project.lints()?;
    Ok(Verdict::Passed)
}

/// A new project that depends on this repository.
struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    fn make(scratch: &Scratch) -> Result<Self, Failure> {
        let folder = PathBuf::from(scratch.path(PROJECT));
        let shown = scratch.path(PROJECT);
        Invocation::cargo(&["new", "--quiet", "--vcs", "none", &shown]).run()?;
        let readme = Document::read("README.md")?;
        let root = format!("{}/", workspace::root().display());
        let dependencies = readme.block("toml")?.replace(BESIDE, &root);
        let manifest = folder.join("Cargo.toml");
        let made = fs::read_to_string(&manifest)
            .map_err(|error| Failure::new(format!("cargo made no project: {error}")))?;
        write(&manifest, &made.replace("[dependencies]\n", &dependencies))?;
        write(&folder.join("src/main.rs"), &readme.block("rust,no_run")?)?;
        // The dependency versions that all other tests use.
        let lock = fs::copy(
            workspace::root().join("Cargo.lock"),
            folder.join("Cargo.lock"),
        );
        lock.map_err(|error| Failure::new(format!("cannot copy Cargo.lock: {error}")))?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| PathBuf::from("target"));
        let target = workspace::root().join(target);
        Ok(Self { folder, target })
    }

    fn cargo(&self, verb: &str) -> Invocation {
        let manifest = self.folder.join("Cargo.toml").display().to_string();
        let target = self.target.display().to_string();
        // The repository's profile, so that cargo can reuse compiled dependencies.
        Invocation::cargo(&[verb, "--manifest-path", &manifest])
            .variable("CARGO_TARGET_DIR", &target)
            .variable("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
    }

    /// Checks what the README says about `kill -9`.
    fn survives_a_kill(&self) -> Result<(), Failure> {
        self.cargo("build").run()?;
        let first = self.run_until("shipping")?;
        expect(&first, "charging 42", true)?;
        let second = self.run_until("no line says this")?;
        expect(&second, "charging", false)?;
        expect(
            &second,
            "a teapot sent as parcel-8, paid by charge-42",
            true,
        )?;
        let third = self.run_until("no line says this")?;
        expect(&third, "order-1 is completed", true)?;
        expect(&third, "charging", false)?;
        expect(&third, "shipping", false)
    }

    /// Runs the program to its end, or kills it after a line with this prefix. Returns its output.
    fn run_until(&self, last: &str) -> Result<Vec<String>, Failure> {
        let program = format!("{PROJECT}{}", std::env::consts::EXE_SUFFIX);
        let program = self.target.join("debug").join(program);
        println!("      $ {}", program.display());
        let mut child = Command::new(&program)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::new(format!("cannot run {}: {error}", program.display())))?;
        let printed = read(&mut child, last);
        let is_killed = printed.as_ref().map_or(true, |lines| is_last(lines, last));
        if is_killed {
            println!("      killed");
            // It may have exited already.
            let _ = child.kill();
        }
        let status = child
            .wait()
            .map_err(|error| Failure::new(format!("cannot wait for the program: {error}")))?;
        if !is_killed && !status.success() {
            return Err(Failure::new(format!(
                "the program of the README ended with {status}"
            )));
        }
        printed
    }

    /// Clippy accepts the configuration of the guide and reports the expected problems.
    fn lints(&self) -> Result<(), Failure> {
        let lint = Document::read(GUIDE_WITH_LINT)?.block("toml")?;
        write(&self.folder.join("clippy.toml"), &lint)?;
        write(&self.folder.join("src/main.rs"), "fn main() {}\n")?;
        let found = self.cargo("clippy").error_output()?;
        if found.contains("clippy.toml") {
            let message =
                format!("clippy objects to the configuration in {GUIDE_WITH_LINT}:\n{found}");
            return Err(Failure::new(message));
        }
        write(&self.folder.join("src/main.rs"), NONDETERMINISTIC)?;
        let found = self.cargo("clippy").error_output()?;
        match EXPECTED_LINTS.iter().find(|lint| !found.contains(**lint)) {
            None => Ok(()),
            Some(missing) => Err(Failure::new(format!(
                "with the clippy.toml of {GUIDE_WITH_LINT}, clippy should find a {missing}, but found:\n{found}"
            ))),
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

/// Reads the output up to its end or to a line with the prefix `last`.
fn read(child: &mut Child, last: &str) -> Result<Vec<String>, Failure> {
    let (send, receive) = mpsc::channel();
    let Some(output) = child.stdout.take() else {
        return Ok(Vec::new());
    };
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        for line in lines {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let end = Instant::now() + LIMIT;
    let mut lines = Vec::new();
    while !is_last(&lines, last) {
        match receive.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                println!("        {line}");
                lines.push(line);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(Failure::new(
                    "the program of the README does not come to an end",
                ));
            }
        }
    }
    Ok(lines)
}

fn is_last(lines: &[String], last: &str) -> bool {
    lines.last().is_some_and(|line| line.starts_with(last))
}

fn expect(lines: &[String], text: &str, wanted: bool) -> Result<(), Failure> {
    if lines.iter().any(|line| line.contains(text)) == wanted {
        return Ok(());
    }
    let not = if wanted { "" } else { "not " };
    Err(Failure::new(format!(
        "the program of the README should {not}print `{text}`; it printed: {lines:?}"
    )))
}
