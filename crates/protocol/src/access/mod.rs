//! Who may do what: scopes of keys, what a run token allows, and the requests that make and revoke both.

mod key;
mod scope;
mod token;
mod view;

pub use key::{CreateKey, CreatedKey, KeyList, KeyView};
pub use scope::{InvalidScope, Scope};
pub use token::{MintToken, MintedToken};
pub use view::{InvalidView, View};
