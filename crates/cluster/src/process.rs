//! The test's handle of a node: starts, kills, stops and shuts down its process, and changes its
//! clock.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use everstep::Role;
use rustix::process::{Pid, Signal, kill_process};

use crate::node::NodeArguments;

/// A member of the cluster, executed by one process after the other.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) port: u16,
    store: String,
    roles: Vec<Role>,
    folder: PathBuf,
    /// Whether a fault is being injected into it.
    is_busy: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    starts: u32,
    child: Option<Child>,
}

/// Guard that gives exclusive access to a node.
pub(crate) struct Held<'a>(pub(crate) &'a Node);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.is_busy.store(false, Ordering::Release);
    }
}

impl Node {
    pub(crate) fn new(name: String, store: &str, roles: &[Role], folder: &Path) -> Self {
        Self {
            name,
            port: free_port(),
            store: store.to_owned(),
            roles: roles.to_vec(),
            folder: folder.to_owned(),
            is_busy: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Returns `None` if another thread holds the node.
    pub(crate) fn hold(&self) -> Option<Held<'_>> {
        let was_busy = self.is_busy.swap(true, Ordering::AcqRel);
        // Create the guard only in this case, because dropping it releases the node.
        (!was_busy).then(|| Held(self))
    }

    pub(crate) fn start(&self) -> anyhow::Result<()> {
        let mut state = self.state();
        state.starts += 1;
        let ledger = format!("{}-{}.ledger", self.name, state.starts);
        let arguments = NodeArguments {
            store: format!("{}?application_name={}", self.store, self.name),
            roles: self.roles.clone(),
            port: self.port,
            ledger: self.folder.join(ledger),
        };
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_path())?;
        let child = Command::new(std::env::current_exe()?)
            .args(arguments.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        state.child = Some(child);
        Ok(())
    }

    /// Kills the process. Returns whether the signal ended it.
    pub(crate) fn kill(&self) -> anyhow::Result<bool> {
        let mut child = self.take()?;
        child.kill()?;
        Ok(child.wait()?.signal() == Some(9))
    }

    /// Sends SIGTERM and waits for the exit. Returns whether the exit code was 0.
    pub(crate) fn end(&self) -> anyhow::Result<bool> {
        let mut child = self.take()?;
        kill_process(pid_of(&child)?, Signal::TERM)?;
        Ok(child.wait()?.success())
    }

    /// Stops the process with SIGSTOP. Returns whether it has stopped.
    pub(crate) fn stop(&self) -> anyhow::Result<bool> {
        let pid = self.pid()?;
        kill_process(pid, Signal::STOP)?;
        for _ in 0..1_000 {
            if state_of(pid) == Some('T') {
                return Ok(true);
            }
            std::thread::yield_now();
        }
        Ok(false)
    }

    pub(crate) fn resume(&self) -> anyhow::Result<()> {
        Ok(kill_process(self.pid()?, Signal::CONT)?)
    }

    /// Shifts the clock of the process. Returns whether the node confirmed it.
    pub(crate) fn set_clock(&self, millis: i64) -> anyhow::Result<bool> {
        let mut state = self.state();
        let child = state.child.as_mut().context("no process")?;
        let input = child.stdin.as_mut().context("no input")?;
        writeln!(input, "clock {millis}")?;
        let output = child.stdout.as_mut().context("no output")?;
        let mut reply = String::new();
        BufReader::new(output).read_line(&mut reply)?;
        Ok(reply.trim() == format!("clock {millis}"))
    }

    /// Describes the exit of the process if it ended unexpectedly.
    pub(crate) fn has_ended(&self) -> Option<String> {
        let mut state = self.state();
        let status = state.child.as_mut()?.try_wait().ok()??;
        Some(format!(
            "{} exited unexpectedly ({status}):\n{}",
            self.name,
            self.log_tail()
        ))
    }

    pub(crate) fn starts(&self) -> u32 {
        self.state().starts
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.name))
    }

    fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(self.log_path()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.len().saturating_sub(10);
        lines.get(last..).unwrap_or_default().join("\n")
    }

    fn take(&self) -> anyhow::Result<Child> {
        let child = self.state().child.take();
        child.with_context(|| format!("{} is not running", self.name))
    }

    fn pid(&self) -> anyhow::Result<Pid> {
        let state = self.state();
        pid_of(state.child.as_ref().context("no process")?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(mut child) = self.state().child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn pid_of(child: &Child) -> anyhow::Result<Pid> {
    let id = i32::try_from(child.id())?;
    Pid::from_raw(id).context("no such process")
}

/// Returns the process state from `/proc`.
fn state_of(pid: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0));
    listener
        .and_then(|listener| listener.local_addr())
        .map_or(0, |address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_one_holder_at_a_time() {
        let node = Node::new("api0".to_owned(), "", &[Role::Api], Path::new(""));
        let held = node.hold();
        assert!(held.is_some());
        assert!(node.hold().is_none());
        assert!(
            node.hold().is_none(),
            "a failed attempt must not release the node"
        );
        drop(held);
        assert!(node.hold().is_some());
    }
}
