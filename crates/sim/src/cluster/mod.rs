//! The simulated cluster: machines with real engines on one store, and the faults between them.

mod boot;
mod bus;
mod clock;
mod faults;
mod lifecycle;
mod listeners;
mod machine;
mod nemesis;
mod network;
mod process;
mod requests;
mod runtime;
mod store;
mod workers;
mod world;

pub(crate) use boot::build_world;
pub use clock::true_time;
pub use nemesis::{inject_machine_faults, inject_store_faults};
pub use workers::keep_worker;
pub(crate) use world::Programs;
pub use world::World;

pub(crate) use process::Process;
