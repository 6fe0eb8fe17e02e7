//! What is decided before a simulation begins.

mod case;
mod fault_kind;
mod simulation_plan;

pub use case::{Case, Crash, Moment};
pub use fault_kind::FaultKind;
pub use simulation_plan::{Limits, Plan};
