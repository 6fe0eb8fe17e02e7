//! Everything that was measured in one go: the JSON that programs read, and from which tables, pages and plots are made.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::arguments::{Bench, cores};
use super::case::Case;

/// The figures of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) workload: String,
    /// What it does, in one line.
    pub(super) about: String,
    pub(super) cases: Vec<Case>,
}

/// What was measured, where, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Results {
    pub(super) version: String,
    pub(super) cores: usize,
    /// Threads that execute workflow code.
    pub(super) workers: u32,
    /// How long a workload that lasts was measured.
    pub(super) seconds: u64,
    pub(super) payload_bytes: u32,
    pub(super) workloads: Vec<Measured>,
}

impl Results {
    pub(super) fn new(arguments: &Bench) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cores: cores(),
            workers: arguments.workers(),
            seconds: arguments.seconds,
            payload_bytes: arguments.payload_bytes,
            workloads: Vec::new(),
        }
    }

    /// What was written before.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(path).with_context(cannot)?;
        serde_json::from_str(&text).with_context(cannot)
    }

    /// Writes it as JSON that people can read too.
    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
