//! Types the commands of one document, in order and exactly as they are written, in a folder of
//! their own. A command that serves continues in the background, as in a terminal of its own, until
//! the document ends.
//!
//! The folder is below the root of the repository, so that `cargo run` finds the workspace, and
//! contains a link `target` to the place where cargo builds. Where the system permits it, the
//! commands run in a network namespace of their own, so that the default port is free.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::failure::Failure;
use crate::process::Invocation;
use crate::workspace;

/// The commands that do not end by themselves.
const SERVING: [&str; 3] = [
    "cargo run --release -- dev",
    "everstep dev",
    "everstep serve",
];

/// Stops the server, which must shut down in order; prints its output if it does not.
const PREAMBLE: &str = r#"
set -eu
server=
stop() {
    [ -n "$server" ] || return 0
    kill -INT "$server"
    code=0
    wait "$server" || code=$?
    server=
    if [ "$code" -ne 130 ]; then cat server.log; echo "the server ended with $code"; exit 1; fi
}
listening() {
    until grep -q 'http://' server.log; do
        kill -0 "$server" 2>/dev/null || { cat server.log; echo "the server does not start"; exit 1; }
        sleep 0.1
    done
}
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true' EXIT
"#;

/// Types the commands of a document with this name.
pub(crate) fn type_out(name: &str, commands: &[String], limit: Duration) -> Result<(), Failure> {
    let folder = fresh_folder(name)?;
    let binaries = workspace::target().join("release");
    let script = script(commands, &folder, &binaries);
    let alone = Invocation::new("unshare", &["-rn", "ip", "link", "set", "lo", "up"]);
    let invocation = match alone.succeeds_quietly() {
        true => {
            let script = format!("ip link set lo up\n{script}");
            Invocation::new("unshare", &["-rn", "sh", "-c", &script])
        }
        false => Invocation::new("sh", &["-c", &script]),
    };
    invocation.silently().within(limit).run()
}

/// Whether a command runs exactly as written although it calls cargo.
pub(crate) fn is_serving(command: &str) -> bool {
    SERVING.iter().any(|serving| command.starts_with(serving))
}

fn fresh_folder(name: &str) -> Result<PathBuf, Failure> {
    let folder = workspace::root().join("target/commands").join(name);
    // It exists if an earlier run was interrupted.
    let _ = fs::remove_dir_all(&folder);
    let unusable = |error| Failure::new(format!("cannot prepare {}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(unusable)?;
    std::os::unix::fs::symlink(workspace::target(), folder.join("target")).map_err(unusable)?;
    Ok(folder)
}

/// The script that types these commands.
fn script(commands: &[String], folder: &Path, binaries: &Path) -> String {
    let mut script = PREAMBLE.to_owned();
    // Writing to a String cannot fail.
    let _ = writeln!(script, "PATH={}:\"$PATH\"", quoted(binaries));
    let _ = writeln!(script, "cd {}", quoted(folder));
    for command in commands {
        let shown = command.replace('\'', r"'\''");
        let _ = writeln!(script, "printf '%s\\n' '      $ {shown}'");
        if is_serving(command) {
            let _ = writeln!(script, "stop; : > server.log");
            let _ = writeln!(script, "{command} > server.log 2>&1 & server=$!");
            let _ = writeln!(script, "listening");
        } else {
            let _ = writeln!(script, "{command}");
        }
    }
    script.push_str("stop\n");
    script
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_runs_in_the_background_and_other_commands_are_waited_for() {
        let commands = ["everstep dev", "everstep list"].map(str::to_owned);
        let script = script(&commands, Path::new("f"), Path::new("b"));
        assert!(script.contains("\neverstep dev > server.log 2>&1 & server=$!\nlistening\n"));
        assert!(script.ends_with("\neverstep list\nstop\n"), "{script}");
        assert!(script.contains("\ncd 'f'\n"));
    }
}
