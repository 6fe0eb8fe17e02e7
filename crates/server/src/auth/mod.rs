//! Authentication and authorization.
//!
//! ```text
//!   request ──▶ gate      one per route (`routes.rs`)
//!                 ├─ identify    key, token, or the application's own Caller   ──▶ Caller
//!                 ├─ authorize   compares what the route requires with what the caller has
//!                 ├─ handler     receives the Caller, for checks that depend on the body
//!                 └─ validity    ends the response when the key or the token ends
//! ```
//!
//! A caller has scopes (what it may do) and limits (`limits.rs`: what it may do it with), or a
//! token that names both.
//!
//! Access is denied by default: a route without a requirement does not compile, and a caller has
//! only the rights that it was given.

mod authorize;
mod cached_document;
mod caller;
mod gate;
mod identify;
mod key;
mod key_list;
mod limits;
mod requirement;
mod run_token;
mod signer;
mod stream_token;
mod token;
mod validity;

pub(crate) use authorize::{check_reach, unreached};
pub use caller::Caller;
pub(crate) use gate::Gate;
pub(crate) use identify::Identities;
pub use key_list::{KeyError, Keys};
pub use limits::Limits;
pub(crate) use requirement::{Requirement, RunAction};
pub(crate) use run_token::RunToken;
pub(crate) use signer::{Signer, random_bytes, stored_secret};
pub(crate) use stream_token::{StreamToken, TokenStreams};
#[cfg(test)]
pub(crate) use token::Token;

#[cfg(test)]
pub(crate) mod fuzzed;
