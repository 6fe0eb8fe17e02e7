//! What can be simulated: workflows and plain functions.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::declaration::{Accepts, Event};
use crate::workflow::Workflow;

/// A [`Workflow`] or a [`PlainFunction`].
pub trait Simulated: sealed::Sealed {
    /// The input of a run.
    type Input: Serialize;
    /// The output of a run.
    type Output: DeserializeOwned;
}

impl<W: Workflow> Simulated for W {
    type Input = W::Input;
    type Output = W::Output;
}

/// A plain function from `I` to `O`. It accepts every event.
#[derive(Debug)]
pub struct PlainFunction<I, O>(PhantomData<fn(I) -> O>);

impl<I: Serialize, O: DeserializeOwned> Simulated for PlainFunction<I, O> {
    type Input = I;
    type Output = O;
}

impl<I, O, E: Event> Accepts<E> for PlainFunction<I, O> {}

mod sealed {
    pub trait Sealed {}
    impl<W: super::Workflow> Sealed for W {}
    impl<I, O> Sealed for super::PlainFunction<I, O> {}
}
