//! Rpcs are types: a method, its arguments and its answer.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A typed call from a run that a person or another program answers.
pub trait Rpc: Serialize + JsonSchema + Send + 'static {
    /// The name of the method. It is permanent: clients select by it what to show.
    const METHOD: &'static str;
    /// The type of the answer. An answer that does not match its JSON schema is refused before it
    /// is stored, and the rpc stays open.
    type Answer: DeserializeOwned + JsonSchema + Send + 'static;
}
