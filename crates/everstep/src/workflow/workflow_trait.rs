//! What a workflow is: a named, versioned piece of code with an input and an output.

use std::future::Future;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ctx::Ctx;
use crate::declaration::Declare;
use crate::error::Result;
use crate::options::Options;

/// A workflow. The type holds what its steps need (clients, settings); the state of a run lives in its journal.
///
/// `run` must do the same for the same journal: no clocks, no randomness, no I/O outside steps. What it needs of these,
/// [`Ctx`] offers in a form that replays.
pub trait Workflow: Send + Sync + Sized + 'static {
    /// The workflow's name; permanent, as runs know their code by it.
    const NAME: &'static str;

    /// The versions whose runs this code can execute. New runs get the last one.
    const VERSIONS: RangeInclusive<u32> = 1..=1;

    /// What a run is started with.
    type Input: Serialize + DeserializeOwned + Send + 'static;

    /// What a run returns.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// Defaults of this workflow's steps and runs.
    fn options() -> Options {
        Options::new()
    }

    /// Tells the engine which events and rpcs there are, so that untyped senders are checked too.
    fn declare(_declare: &mut Declare<Self>) {}

    /// The workflow itself.
    fn run(
        &self,
        ctx: Ctx<Self>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}
