//! Who asks, and whether they may.
//!
//! ```text
//!   request ──▶ gate      each route has one (`routes.rs`)
//!                 ├─ identify    key, run token, whoever the application says, or nobody   ──▶ Caller
//!                 ├─ authorize   what the route needs against what the caller has
//!                 └─ handler     takes the Caller along, for what only the body tells
//! ```
//!
//! Nothing is allowed that is not said: a route without needs does not compile, and a caller has what it was given, no more.

mod authorize;
mod caller;
mod gate;
mod identify;
mod key;
mod key_list;
mod needs;
mod refusal;
mod routes;
mod run_token;
mod signer;

pub use caller::Caller;
pub(crate) use gate::{Gate, admit};
pub(crate) use identify::Identities;
pub use key_list::{KeyError, Keys};
pub(crate) use needs::{Needs, RunAct};
pub(crate) use routes::routes;

#[cfg(test)]
mod crossing_tests;
#[cfg(test)]
pub(crate) mod fuzzed;
