//! Access control: the scopes of API keys, the permissions of run tokens, and the requests that
//! create and revoke them.

mod key;
mod scope;
mod token;
mod view;

pub use key::{CreateKey, CreatedKey, KeyList, KeyView};
pub use scope::{InvalidScope, Scope};
pub use token::{MintToken, MintedToken};
pub use view::{InvalidView, View};
