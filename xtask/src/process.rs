//! Runs other programs: prints the command, passes its output through, and reports long run times.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::workspace;

/// Prints a line after this time, so that a silent log does not look dead.
const SIGN_OF_LIFE: Duration = Duration::from_secs(30);
const POLL_SHORTEST: Duration = Duration::from_millis(1);
const POLL_LONGEST: Duration = Duration::from_millis(50);

/// A command line that runs at the root of the repository.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    program: String,
    args: Vec<String>,
    variables: Vec<(String, String)>,
    limit: Option<Duration>,
    /// Whether the command line is not printed.
    is_silent: bool,
}

impl Invocation {
    pub(crate) fn new(program: &str, args: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            variables: Vec::new(),
            limit: None,
            is_silent: false,
        }
    }

    pub(crate) fn cargo(args: &[&str]) -> Self {
        Self::new("cargo", args)
    }

    pub(crate) fn args(mut self, args: &[String]) -> Self {
        self.args.extend_from_slice(args);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Kills the program and fails if it runs longer than this.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Does not print the command line.
    pub(crate) fn silently(mut self) -> Self {
        self.is_silent = true;
        self
    }

    /// Runs the command and passes its output through. Fails unless it exits with zero.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        if !self.is_silent {
            println!("      $ {}", self.shown());
        }
        let mut child = self
            .command()
            .spawn()
            .map_err(|error| self.failed(&format!("could not be started: {error}")))?;
        match self.wait(&mut child) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(self.failed(&format!("ended with {status}"))),
            Ok(None) => Err(self.failed(&format!(
                "was still running after {} and was ended",
                elapsed(self.limit.unwrap_or_default())
            ))),
            Err(error) => Err(self.failed(&format!("could not be waited for: {error}"))),
        }
    }

    /// Whether the command starts and exits with zero. Discards its output.
    pub(crate) fn succeeds_quietly(&self) -> bool {
        self.command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Its standard output, or `None` if it did not start or failed.
    pub(crate) fn output_quietly(&self) -> Option<Vec<u8>> {
        let output = self.command().stderr(Stdio::null()).output().ok()?;
        output.status.success().then_some(output.stdout)
    }

    /// Its error output, whether it succeeded or not.
    pub(crate) fn error_output(&self) -> Result<String, Failure> {
        println!("      $ {}", self.shown());
        let output = self
            .command()
            .output()
            .map_err(|error| self.failed(&format!("could not be started: {error}")))?;
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The command as a person would type it.
    pub(crate) fn shown(&self) -> String {
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)));
        let program = std::iter::once(self.program.clone());
        let args = self.args.iter().map(|arg| quoted(arg));
        variables
            .chain(program)
            .chain(args)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.executable());
        command
            .args(&self.args)
            .current_dir(workspace::root())
            .stdin(Stdio::null());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// The cargo that started this program, if any, so that rustup resolves the toolchain only
    /// once.
    fn executable(&self) -> OsString {
        if self.program == "cargo" {
            env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
        } else {
            OsString::from(&self.program)
        }
    }

    /// Returns `None` if the limit passed and the child was killed.
    fn wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let started = Instant::now();
        // On a terminal cargo shows a progress bar.
        let mut next_sign = (!io::stderr().is_terminal()).then_some(SIGN_OF_LIFE);
        let mut pause = POLL_SHORTEST;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.limit.is_some_and(|limit| started.elapsed() > limit) {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            if let Some(due) = next_sign.filter(|&due| started.elapsed() >= due) {
                println!("      … still running after {}", elapsed(started.elapsed()));
                next_sign = Some(due + SIGN_OF_LIFE);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(POLL_LONGEST);
        }
    }

    fn failed(&self, how: &str) -> Failure {
        let shown = self.shown();
        Failure::new(format!(
            "`{shown}` {how}\n  re-run just this command:  {shown}"
        ))
    }
}

/// A duration for people: `0.4 s`, `12.0 s`, `3 min 07 s`.
pub(crate) fn elapsed(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_pasted_into_a_shell() {
        let doc = Invocation::cargo(&["doc", "--no-deps"]).variable("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            doc.shown(),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn durations_are_readable() {
        assert_eq!(elapsed(Duration::from_millis(440)), "0.4 s");
        assert_eq!(elapsed(Duration::from_secs(187)), "3 min 07 s");
    }

    #[test]
    fn a_failing_command_is_named_with_its_status() {
        let failure = Invocation::cargo(&["no-such-subcommand"])
            .run()
            .unwrap_err()
            .to_string();
        assert!(
            failure.starts_with("`cargo no-such-subcommand` ended with"),
            "{failure}"
        );
        assert!(failure.ends_with("re-run just this command:  cargo no-such-subcommand"));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = Invocation::new("everstep-no-such-program", &[])
            .run()
            .unwrap_err();
        assert!(
            failure.to_string().contains("could not be started"),
            "{failure}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_program_past_its_limit_is_ended() {
        let endless = Invocation::new("cat", &["/dev/zero"]).within(Duration::from_millis(20));
        let mut child = endless.command().stdout(Stdio::null()).spawn().unwrap();
        assert!(endless.wait(&mut child).unwrap().is_none());
        assert!(child.try_wait().unwrap().is_some(), "the program is gone");
    }
}
