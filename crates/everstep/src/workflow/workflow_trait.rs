//! The trait of workflows: named, versioned code with an input and an output.

use std::future::Future;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ctx::Ctx;
use crate::declaration::{Accepts, AcceptsAny, Asks, Declared, Event, Interface, Rpc};
use crate::error::Result;
use crate::options::Options;

/// A workflow. The type holds what its steps need (clients, settings); the state of a run is in its
/// journal.
///
/// `run` must be deterministic: no clocks, no randomness, no I/O outside steps. [`Ctx`] provides
/// time and randomness that replay.
pub trait Workflow: Send + Sync + Sized + 'static {
    /// The name of the workflow. It is permanent: it connects runs to their code.
    const NAME: &'static str;

    /// The versions whose runs this code can execute. New runs get the last one.
    const VERSIONS: RangeInclusive<u32> = 1..=1;

    #[allow(missing_docs, reason = "the name explains it")]
    type Input: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    #[allow(missing_docs, reason = "the name explains it")]
    type Output: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    /// The events that the workflow accepts and the rpcs that it makes, declared by
    /// [`interface!`](crate::interface). `()` means none, [`AnyEvent`](crate::AnyEvent) all.
    type Interface: Interface;

    /// Returns the defaults of this workflow's steps and runs.
    fn options() -> Options {
        Options::new()
    }

    /// Executes a run.
    fn run(
        &self,
        ctx: Ctx<Self>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}

impl<W: Workflow, E: Event> Accepts<E> for W
where
    W::Interface: Accepts<E>,
{
    const DECLARED: Declared = <W::Interface as Accepts<E>>::DECLARED;
}

impl<W: Workflow<Interface: AcceptsAny>> AcceptsAny for W {
    const DECLARED: Declared = <W::Interface as AcceptsAny>::DECLARED;
}

impl<W: Workflow, R: Rpc> Asks<R> for W
where
    W::Interface: Asks<R>,
{
    const DECLARED: Declared = <W::Interface as Asks<R>>::DECLARED;
}
