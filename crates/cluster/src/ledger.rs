//! The ledger of effects, timestamped with the true clock. Each process appends to its own file
//! with one write per line, so that a killed process leaves complete lines.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EffectKind {
    Step,
    Fenced,
    Undo,
}

/// One attempt of a step or of an undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Effect {
    pub(crate) kind: EffectKind,
    pub(crate) run: String,
    pub(crate) location: String,
    pub(crate) attempt: u32,
    pub(crate) key: String,
}

/// An effect with its true time in milliseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) at: u64,
    pub(crate) effect: Effect,
}

/// The ledger file of a process.
pub(crate) struct Ledger(Option<File>);

/// Returns the true time. The clocks of nodes may be wrong.
pub(crate) fn true_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

impl Ledger {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Some(file)))
    }

    /// Creates a ledger that discards all effects.
    pub(crate) fn discarding() -> Self {
        Self(None)
    }

    /// Records an effect. Exits the process on failure, because its effects could not be checked.
    pub(crate) fn write(&self, effect: &Effect) {
        let Some(mut file) = self.0.as_ref() else {
            return;
        };
        let line = Line {
            at: true_millis(),
            effect: effect.clone(),
        };
        let written = serde_json::to_string(&line)
            .map_err(std::io::Error::other)
            .and_then(|text| file.write_all(format!("{text}\n").as_bytes()));
        if let Err(error) = written {
            tracing::error!(%error, "cannot write the ledger");
            std::process::abort();
        }
    }
}

/// Reads the ledgers of all processes, in order of time.
pub(crate) fn read_all(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "ledger") {
            for line in std::fs::read_to_string(&path)?.lines() {
                lines.push(serde_json::from_str::<Line>(line)?);
            }
        }
    }
    lines.sort_by_key(|line| line.at);
    Ok(lines)
}
