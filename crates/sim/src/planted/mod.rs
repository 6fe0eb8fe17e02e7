//! Bugs planted on purpose, and whether the simulation finds them. Those of machine, engine and server are planted in the code itself, behind
//! `everstep_model::planted`; those of a store are planted here, in front of the memory store, so that the stores we ship stay
//! clean. `catching` has the list of what may give each bug away, and the hunt.

mod catching;
mod fencing;
mod forgetting;
mod guards;
mod store;

pub use catching::{Catch, Hunt, hunt, hunt_all, table};
pub use everstep_model::planted::{Bug, plant};
pub use store::PlantedStore;
pub(crate) use store::at_once;
