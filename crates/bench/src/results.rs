//! The results of one benchmark. Serialized as JSON, and the input of the table, page and charts.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::arguments::{BenchArguments, cores};
use crate::case::Case;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) workload: String,
    pub(crate) about: String,
    pub(crate) cases: Vec<Case>,
}

/// The results, with the settings and the machine they were measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) version: String,
    pub(crate) cores: usize,
    /// Threads that execute workflow code.
    pub(crate) workers: u32,
    /// Duration of each round.
    pub(crate) seconds: u64,
    /// Rounds of each measurement. Older results lack it.
    #[serde(default)]
    pub(crate) rounds: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) workloads: Vec<Measured>,
}

impl Results {
    pub(crate) fn new(arguments: &BenchArguments) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cores: cores(),
            workers: arguments.workers(),
            seconds: arguments.seconds,
            rounds: arguments.rounds,
            payload_bytes: arguments.payload_bytes,
            workloads: Vec::new(),
        }
    }

    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(path).with_context(cannot)?;
        serde_json::from_str(&text).with_context(cannot)
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
