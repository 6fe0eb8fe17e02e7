//! The cluster: machines on one simulated store, and everything that can go wrong between them.

mod bus;
mod faults;
mod machine;
mod nemesis;
mod network;
mod runtime;
mod store;
mod workers;
mod world;

pub use faults::FaultKind;
pub use nemesis::{torment, torment_store};
pub use runtime::true_time;
pub use workers::keep_worker;
pub use world::World;

pub(crate) use machine::Process;
