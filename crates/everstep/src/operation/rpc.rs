//! Asking questions.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, Resolution};
use everstep_model::{ErrorCode, Failure, Payload, PayloadError, Scope};

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::declaration::Rpc;
use crate::error::{Error, Result};
use crate::options::whole_millis;

impl<W> Ctx<W> {
    /// Asks a question and waits for the answer. Clients see it as soon as it is asked.
    #[track_caller]
    pub fn rpc<R: Rpc>(&self, question: R) -> RpcCall<R> {
        RpcCall::new(self, &question, CallSite::caller())
    }
}

/// A question, waiting for its answer for as long as it takes.
#[must_use = "a question is not asked until it is awaited"]
pub struct RpcCall<R> {
    call: Call,
    rpc: PhantomData<fn() -> R>,
}

/// A question that gives up: `None` when no answer came in time, the same on every replay.
#[must_use = "a question is not asked until it is awaited"]
pub struct RpcWithin<R> {
    call: Call,
    rpc: PhantomData<fn() -> R>,
}

struct Call {
    handle: Handle,
    scope: Scope,
    method: &'static str,
    args: Option<Result<Payload, PayloadError>>,
    timeout: Option<Duration>,
    site: CallSite,
}

impl<R: Rpc> RpcCall<R> {
    fn new<W>(ctx: &Ctx<W>, question: &R, site: CallSite) -> Self {
        Self {
            call: Call {
                handle: Handle::new(ctx.shared().clone()),
                scope: ctx.scope().clone(),
                method: R::METHOD,
                args: Some(Payload::from_value(question)),
                timeout: None,
                site,
            },
            rpc: PhantomData,
        }
    }

    /// Gives up after this long. The deadline is fixed by the first call and survives restarts.
    pub fn timeout(mut self, timeout: Duration) -> RpcWithin<R> {
        self.call.timeout = Some(whole_millis(timeout));
        RpcWithin {
            call: self.call,
            rpc: PhantomData,
        }
    }
}

impl Call {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Payload>>> {
        let (scope, method, timeout, site) = (&self.scope, self.method, self.timeout, self.site);
        let schema = self.handle.shared().rpc_schema(method);
        let args = self.args.take();
        let resolved = self.handle.poll(context, |replay| {
            let method = replay.name(method)?;
            let args = args.unwrap_or_else(|| Ok(Payload::null()))?;
            let rpc = everstep_machine::RpcCall {
                args,
                schema,
                timeout,
            };
            Ok(replay.call(scope, &method, rpc, site))
        });
        resolved.map(|resolution| match resolution? {
            Resolution::Answer(answer) => Ok(answer),
            other => Err(Error::fatal(format!(
                "question `{method}` was resolved by {other:?}"
            ))),
        })
    }
}

fn decode<R: Rpc>(answer: &Payload) -> Result<R::Answer> {
    answer.decode().map_err(|error| {
        let message = format!(
            "the answer to `{}` does not fit its type: {error}",
            R::METHOD
        );
        Error::from_failure(Failure::new(ErrorCode::Undecodable, message)).non_retryable()
    })
}

impl<R: Rpc> Future for RpcCall<R> {
    type Output = Result<R::Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.call.poll(context).map(|answer| match answer? {
            Some(answer) => decode::<R>(&answer),
            // The machine resolves a question without a deadline only with an answer.
            None => Err(Error::fatal(format!(
                "question `{}` ended without an answer",
                R::METHOD
            ))),
        })
    }
}

impl<R: Rpc> Future for RpcWithin<R> {
    type Output = Result<Option<R::Answer>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.call
            .poll(context)
            .map(|answer| answer?.as_ref().map(decode::<R>).transpose())
    }
}

impl<R: Rpc> std::fmt::Debug for RpcCall<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RpcCall({})", R::METHOD)
    }
}

impl<R: Rpc> std::fmt::Debug for RpcWithin<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RpcWithin({})", R::METHOD)
    }
}
