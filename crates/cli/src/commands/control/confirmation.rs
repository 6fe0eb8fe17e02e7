//! Asks before a command destroys many runs.

use std::io::{IsTerminal, Write};

use everstep_model::Verb;

use super::report::count;

/// Whether no other verb brings the runs back as they were.
pub(super) fn is_irreversible(verb: Verb) -> bool {
    matches!(verb, Verb::Delete | Verb::Terminate)
}

/// Asks for confirmation on a terminal. Scripts are not asked.
pub(super) fn confirm(verb: Verb, runs: usize) -> anyhow::Result<()> {
    let (input, mut output) = (std::io::stdin(), std::io::stderr());
    if runs == 0 || !input.is_terminal() || !output.is_terminal() {
        return Ok(());
    }
    write!(output, "{verb} {}? [y/N] ", count(runs))?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    let is_confirmed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    anyhow::ensure!(is_confirmed, "not confirmed; no run was changed");
    Ok(())
}
