//! The store of a simulation, with a bug in front of it if one is planted there. The bugs of
//! machine, engine and server are in the code itself, behind `everstep_model::planted`; those of
//! stores are here, so that the stores we ship have none.

mod fencing;
mod forgetting;
mod guards;
mod memory;
mod store;

pub use store::PlantedStore;
