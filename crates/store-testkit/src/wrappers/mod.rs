//! Store wrappers for tests. Each one intercepts the calls of another store
//! ([`everstep_store::Intercept`]).

mod archive;
mod blocking;
mod counting;
mod faulty;

pub use archive::Archive;
pub use blocking::Blocking;
pub use counting::{Calls, Counting};
pub use faulty::{Fault, Faulty};
