//! The work of the simulated cluster: random programs, the run that collects events, and the
//! clients.

mod clients;
mod env;
mod interpreter;
mod programs;
mod requests;
mod workflows;

pub(crate) use clients::unfinished;
pub use clients::{COLLECTOR, finish, prepare, run_client};
pub use env::Env;
pub use interpreter::run_program;
pub(crate) use interpreter::value_of;
pub(crate) use programs::RandomPrograms;
pub(crate) use requests::all_requests;
pub use workflows::RANDOM;
