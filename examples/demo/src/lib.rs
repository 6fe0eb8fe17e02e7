//! The demo workflows, one file each, in reading order:
//!
//! - [`hello`]: three steps. What a workflow is, and what a step is.
//! - [`payment`]: retries, a durable sleep, typed events. What survives a crash, and for how long.
//! - [`expense`]: a question to a person, and a timeout.
//! - [`order`]: steps that are undone if the run fails or is cancelled.
//!
//! `everstep dev` runs them. Copy from here: each file is complete, and its tests show how to test
//! a workflow whose sleeps take days.

pub mod expense;
pub mod gateway;
pub mod hello;
pub mod order;
pub mod pace;
pub mod payment;

use everstep::{EngineBuilder, Workflow, Workflows};

pub use expense::Expense;
pub use gateway::Gateway;
pub use hello::Hello;
pub use order::Order;
pub use pace::Pace;
pub use payment::Payment;

/// The names of the demo workflows.
pub const NAMES: [&str; 4] = [Hello::NAME, Payment::NAME, Expense::NAME, Order::NAME];

/// Registers all demo workflows.
pub fn register(engine: EngineBuilder, pace: Pace, gateway: Gateway) -> EngineBuilder {
    engine.workflows(
        Workflows::new()
            .workflow(Hello { pace })
            .workflow(Payment { gateway, pace })
            .workflow(Expense { pace })
            .workflow(Order { pace }),
    )
}
