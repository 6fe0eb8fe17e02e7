//! Workers and the workflows they offer: the interface to the code that executes runs
//! (`activation.rs`), the registry of the workers of this node, the catalog of the workflows that
//! all nodes offer, and the checks of payloads against what workflows declare.

mod activation;
mod catalog;
mod checks;
mod declares;
mod directory;
mod registry;
mod schema;

pub use activation::{Activation, Append, Message, Offer, Seat, Then, Worker};
pub use declares::Declares;
pub use directory::KnownWorkflow;
pub(crate) use directory::Workers;
pub use registry::Offered;
pub use schema::check as check_schema;
