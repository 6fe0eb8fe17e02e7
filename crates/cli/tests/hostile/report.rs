//! The table of what attacks cost.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::client::Latencies;

/// A client alone, and during an attack.
pub(crate) struct Measured {
    pub(crate) alone: Latencies,
    pub(crate) attacked: Latencies,
    pub(crate) memory_mib: u64,
}

#[derive(Default)]
struct Row {
    grown_mib: u64,
    alone: Latencies,
    attacked: Latencies,
}

/// What all rounds measured, by attack.
#[derive(Default)]
pub(crate) struct Report {
    rows: BTreeMap<&'static str, Row>,
}

impl Report {
    pub(crate) fn add(&mut self, attack: &'static str, grown_mib: u64, measured: Measured) {
        let row = self.rows.entry(attack).or_default();
        row.grown_mib = row.grown_mib.max(grown_mib);
        row.alone.extend(measured.alone);
        row.attacked.extend(measured.attacked);
    }
}

fn p99(latencies: &[Duration]) -> f64 {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let position = sorted.len() * 99 / 100;
    sorted.get(position).map_or(f64::NAN, Duration::as_secs_f64) * 1_000.0
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "memory: growth of the server; p99 in ms: alone → attacked"
        )?;
        let (name, memory) = ("attack", "memory");
        writeln!(
            f,
            "{name:<30} {memory:>8}   {:<26} connect and read",
            "append"
        )?;
        for (name, row) in &self.rows {
            let pair = |alone: &[Duration], attacked: &[Duration]| {
                let (alone, attacked) = (p99(alone), p99(attacked));
                format!("{alone:.1} → {attacked:.1} ({:.1} ×)", attacked / alone)
            };
            let appends = pair(&row.alone.appends, &row.attacked.appends);
            let reads = pair(&row.alone.reads, &row.attacked.reads);
            writeln!(
                f,
                "{name:<30} {:>4} MiB   {appends:<26} {reads}",
                row.grown_mib
            )?;
        }
        Ok(())
    }
}
