//! What can be simulated: workflows and plain functions.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::declaration::{Accepts, Declared, Event};
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

/// A plain function from `I` to `O` with the interface `C`.
#[derive(Debug)]
pub struct PlainFunction<C, I, O>(PhantomData<fn(C, I) -> O>);

impl<C, I: Serialize, O: DeserializeOwned> Simulated for PlainFunction<C, I, O> {
    type Input = I;
    type Output = O;
}

impl<C: Accepts<E>, I, O, E: Event> Accepts<E> for PlainFunction<C, I, O> {
    const DECLARED: Declared = C::DECLARED;
}

mod sealed {
    pub trait Sealed {}
    impl<W: super::Workflow> Sealed for W {}
    impl<C, I, O> Sealed for super::PlainFunction<C, I, O> {}
}
