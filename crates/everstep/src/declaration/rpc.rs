//! Rpcs are types: a method, its arguments and its answer.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A typed call from a run that a person or another program answers.
pub trait Rpc: Serialize + Send + 'static {
    /// The name of the method. It is permanent: clients select by it what to show.
    const METHOD: &'static str;
    /// The type of the answer. An answer that does not fit is rejected.
    type Answer: DeserializeOwned + Send + 'static;
}
