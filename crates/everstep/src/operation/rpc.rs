//! Rpcs.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, Resolution};
use everstep_model::{Payload, PayloadError};

use super::forms::{Optional, Required};
use super::handle::{Handle, unexpected};
use crate::ctx::Ctx;
use crate::declaration::{Asks, Rpc};
use crate::error::{Error, Result, decode};
use crate::options::whole_millis;

impl<W> Ctx<W> {
    /// Makes an rpc and waits for the answer. Clients see the rpc as soon as it is made, with the
    /// JSON schema of the answer. An rpc that is not in the interface of the workflow does not
    /// compile; see [`Asks`].
    #[track_caller]
    pub fn rpc<R: Rpc>(&self, rpc: R) -> RpcCall<R>
    where
        W: Asks<R>,
    {
        RpcCall {
            handle: Handle::new(self, CallSite::caller()),
            args: Some(Payload::from_value(&rpc)),
            timeout: None,
            rpc: PhantomData,
        }
    }
}

/// An rpc that waits for its answer. `Form` selects the output: [`Required`] or [`Optional`].
#[must_use = "an rpc is not made until it is awaited"]
pub struct RpcCall<R, Form = Required> {
    handle: Handle,
    args: Option<Result<Payload, PayloadError>>,
    timeout: Option<Duration>,
    rpc: PhantomData<fn() -> (R, Form)>,
}

impl<R> RpcCall<R> {
    /// Gives up after this time. The deadline is fixed by the first call and survives restarts.
    pub fn timeout(self, timeout: Duration) -> RpcCall<R, Optional> {
        RpcCall {
            handle: self.handle,
            args: self.args,
            timeout: Some(whole_millis(timeout)),
            rpc: PhantomData,
        }
    }
}

impl<R: Rpc, Form> RpcCall<R, Form> {
    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<R::Answer>>> {
        let (args, timeout) = (self.args.take(), self.timeout);
        let declaration = &self.handle.shared().parts.declaration;
        let declaration = declaration.clone();
        let resolved = self.handle.poll(context, R::METHOD, |_| {
            Ok(everstep_machine::RpcCall {
                args: args.unwrap_or_else(|| Ok(Payload::null()))?,
                schema: declaration.answer_schema::<R>(),
                timeout,
            })
        });
        let describe = || format!("the answer to `{}`", R::METHOD);
        resolved.map(|resolution| match resolution? {
            Resolution::Answer(None) => Ok(None),
            Resolution::Answer(Some(answer)) => decode(&answer, describe).map(Some),
            other => Err(unexpected(&format!("rpc `{}`", R::METHOD), &other)),
        })
    }
}

impl<R: Rpc> Future for RpcCall<R> {
    type Output = Result<R::Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The machine resolves an rpc without a deadline only with an answer.
        let ended = || Error::fatal(format!("rpc `{}` ended without an answer", R::METHOD));
        self.poll_answer(context)
            .map(|answer| answer?.ok_or_else(ended))
    }
}

impl<R: Rpc> Future for RpcCall<R, Optional> {
    type Output = Result<Option<R::Answer>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_answer(context)
    }
}

impl<R: Rpc, Form> std::fmt::Debug for RpcCall<R, Form> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RpcCall({})", R::METHOD)
    }
}
