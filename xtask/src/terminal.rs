//! A newcomer's terminal: what one document says to type is typed in order, in a folder of its own, with the built binary on
//! the path. A command that serves goes on in the background, as in a terminal of its own, until the document ends.

use std::fmt::Write as _;
use std::path::Path;

/// The commands that do not end by themselves.
const SERVING: [&str; 2] = ["everstep dev", "everstep serve"];

/// Stops what serves, which must end in good order; says what it said if it does not.
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
    until grep -q 'http' server.log; do
        kill -0 "$server" 2>/dev/null || { cat server.log; echo "the server does not start"; exit 1; }
        sleep 0.1
    done
}
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true' EXIT
"#;

/// The script that types these commands.
pub(crate) fn script(commands: &[String], folder: &Path, binaries: &Path) -> String {
    let mut script = PREAMBLE.to_owned();
    // Writing to a String cannot fail.
    let _ = writeln!(script, "PATH={}:\"$PATH\"", quoted(binaries));
    let _ = writeln!(script, "mkdir -p {0} && cd {0}", quoted(folder));
    for command in commands {
        let shown = command.replace('\'', r"'\''");
        let _ = writeln!(script, "printf '%s\\n' '      $ {shown}'");
        if SERVING.iter().any(|serving| command.starts_with(serving)) {
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
    fn what_serves_is_left_running_and_all_else_is_waited_for() {
        let commands = ["everstep dev", "everstep list"].map(str::to_owned);
        let script = script(&commands, Path::new("f"), Path::new("b"));
        assert!(script.contains("\neverstep dev > server.log 2>&1 & server=$!\nlistening\n"));
        assert!(script.ends_with("\neverstep list\nstop\n"), "{script}");
        assert!(script.contains("'f' && cd 'f'"));
    }
}
