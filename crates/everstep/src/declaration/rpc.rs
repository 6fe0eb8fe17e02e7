//! Questions a run asks are types too: a method, its arguments and its answer.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A question that a run asks and a person or client answers.
pub trait Rpc: Serialize + Send + 'static {
    /// The method's name; permanent, as clients choose by it what to show.
    const METHOD: &'static str;
    /// What an answer looks like. An answer that does not fit is refused before it is stored.
    type Answer: DeserializeOwned + Send + 'static;
}
