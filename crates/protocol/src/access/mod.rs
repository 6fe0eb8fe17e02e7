//! Access control: the scopes of API keys, the permissions of run tokens, and the requests that
//! create and revoke them.

mod key;
mod scope;
mod token;
mod view;

pub use key::{CreateKey, CreatedKey, KeyList, KeyView};
pub use scope::{InvalidScope, Scope};
pub use token::{
    InvalidStreamRight, MintStreamToken, MintToken, MintedStreamToken, MintedToken, StreamRight,
};
pub use view::{InvalidView, View};

/// Lists words in an error message.
fn list(words: &[impl ToString]) -> String {
    let words: Vec<_> = words.iter().map(ToString::to_string).collect();
    words.join(", ")
}
