//! `everstep bench`: measures how fast workflows run on this machine and, in the same run, what the
//! machine can do at most.
//!
//! ```text
//!   a workload:  limits ─▶ round ─▶ limits ─▶ round ─▶ … ─▶ limits      (workloads/)
//!                            │ named values (Rounds)
//!                            ▼
//!                medians, spread and targets (Case) ─▶ Results ─▶ JSON, table, page, charts
//! ```
//!
//! Machines are noisy, so workflows and limits alternate: each round is compared with the limits
//! measured just before and after it, and the report contains the median of these ratios. A
//! workload only measures; this crate turns the values of all workloads into figures the same way.

mod arguments;
mod case;
mod command;
mod disk_limits;
mod figure;
mod limits;
mod page;
mod payload;
mod plot;
mod process;
mod progress;
mod results;
mod scratch_directory;
mod setup;
mod statistics;
mod store_alone;
mod store_location;
mod svg;
mod table;
mod ten_step_run;
mod workloads;

pub use arguments::{BenchArguments, UsageError};
pub use command::run;
