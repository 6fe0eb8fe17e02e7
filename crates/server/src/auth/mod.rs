//! Authentication and authorization.
//!
//! ```text
//!   request ──▶ gate      one per route (`routes.rs`)
//!                 ├─ identify    key, run token, or the application's own Caller   ──▶ Caller
//!                 ├─ authorize   compares what the route requires with what the caller has
//!                 └─ handler     receives the Caller, for checks that depend on the body
//! ```
//!
//! Access is denied by default: a route without a requirement does not compile, and a caller has only
//! the rights that it was given.

mod authorize;
mod caller;
mod gate;
mod identify;
mod key;
mod key_list;
mod requirement;
mod run_token;
mod signer;

pub use caller::Caller;
pub(crate) use gate::{Gate, admit};
pub(crate) use identify::Identities;
pub use key_list::{KeyError, Keys};
pub(crate) use requirement::{Requirement, RunAction};
pub(crate) use run_token::RunToken;
pub(crate) use signer::{Signer, random_bytes, stored_secret};

#[cfg(test)]
pub(crate) mod fuzzed;
