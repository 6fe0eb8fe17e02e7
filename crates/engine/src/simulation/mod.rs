//! Tools for simulations of the engine, shared by `everstep::testing`, `crates/sim` and the tests
//! of this crate. The engine itself does not use them.

mod catch_panic;
mod minimise;
mod rng;
mod timeline;
mod virtual_runtime;

pub use catch_panic::catch_panic;
pub use minimise::Minimiser;
pub use rng::Rng;
pub use timeline::{Timeline, format_moment};
pub use virtual_runtime::VirtualRuntime;
