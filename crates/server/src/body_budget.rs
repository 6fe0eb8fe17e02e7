//! Limits the bytes of bodies in memory: of all requests together, and of each caller.
//!
//! Bytes of a request body count from their arrival to the response. Bytes of a large response
//! count until they are sent, so clients that do not read cannot fill the memory.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::Response;
use everstep_engine::Runtime;
use everstep_model::ErrorCode;
use futures_util::future::{BoxFuture, Either, select};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;

use crate::auth::Caller;
use crate::failure::Failure;

/// How long a part of a body waits for other bodies.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Responses up to this size do not count.
const SMALL_RESPONSE: usize = 64 * 1024;

/// A body was rejected because of the memory that bodies take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OverBudget {
    #[error("too many bytes of requests and responses of this caller are in memory")]
    OfCaller,
    #[error("too many bytes of requests and responses are in memory")]
    OfAll,
}

impl From<OverBudget> for Failure {
    fn from(over: OverBudget) -> Self {
        let status = match over {
            OverBudget::OfCaller => StatusCode::TOO_MANY_REQUESTS,
            OverBudget::OfAll => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, ErrorCode::TooBusy, over.to_string()).with(header::RETRY_AFTER, 1)
    }
}

/// The bytes that the requests or the responses of some routes may take.
pub(crate) struct BodyBudget {
    max: usize,
    /// The maximum size of one body, which is also the share of a token.
    of_body_max: usize,
    /// The share of a key.
    of_key_max: usize,
    free: Arc<Semaphore>,
    callers: Mutex<HashMap<Arc<str>, usize>>,
}

impl BodyBudget {
    /// Creates a budget. No key gets more than half of it, unless one body is larger.
    pub(crate) fn new(max: usize, of_body_max: usize) -> Arc<Self> {
        let max = max.max(of_body_max).min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            max,
            of_body_max: of_body_max.min(max),
            of_key_max: (max / 2).max(of_body_max),
            free: Arc::new(Semaphore::new(max)),
            callers: Mutex::default(),
        })
    }

    /// Takes the bytes of a response, until the account is dropped.
    pub(crate) fn hold(
        self: &Arc<Self>,
        caller: Option<&Caller>,
        bytes: usize,
    ) -> Result<Account, OverBudget> {
        let account = self.account(caller);
        account.charge(bytes)?;
        account.take(bytes)?;
        Ok(account)
    }

    /// Begins to count a body of a caller. `None` is a caller without a key.
    fn account(self: &Arc<Self>, caller: Option<&Caller>) -> Account {
        let max = match caller {
            Some(caller) if caller.identity().is_none() => self.max,
            Some(caller) if !caller.has_token() => self.of_key_max,
            Some(_) | None => self.of_body_max,
        };
        let caller = caller.and_then(Caller::identity).unwrap_or_default();
        Account {
            budget: self.clone(),
            caller: caller.into(),
            max,
            bytes: AtomicUsize::new(0),
            permits: AtomicUsize::new(0),
        }
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of one body. Dropping it frees them.
pub(crate) struct Account {
    budget: Arc<BodyBudget>,
    caller: Arc<str>,
    /// The share of the caller.
    max: usize,
    bytes: AtomicUsize,
    permits: AtomicUsize,
}

impl Account {
    /// Adds bytes to those of the caller.
    fn charge(&self, bytes: usize) -> Result<(), OverBudget> {
        let mut callers = self.budget.callers();
        let count = callers.entry(self.caller.clone()).or_default();
        // The reader of a body rejects one that is too large by itself.
        let others = *count - self.bytes.load(Ordering::Relaxed);
        if others > 0 && *count + bytes > self.max {
            return Err(OverBudget::OfCaller);
        }
        *count += bytes;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Takes bytes of the budget if they are free.
    fn take(&self, bytes: usize) -> Result<(), OverBudget> {
        let permits = self.permits_for(bytes);
        let taken = self.budget.free.try_acquire_many(permits);
        taken.map_err(|_| OverBudget::OfAll)?.forget();
        self.permits.fetch_add(permits as usize, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until bytes of the budget are free.
    async fn wait(self: Arc<Self>, bytes: usize, timeout: TimeLimit) -> Result<(), OverBudget> {
        let permits = self.permits_for(bytes);
        let taken = std::pin::pin!(self.budget.free.acquire_many(permits));
        match select(taken, timeout).await {
            Either::Left((Ok(taken), _)) => taken.forget(),
            Either::Left((Err(_), _)) | Either::Right(_) => return Err(OverBudget::OfAll),
        }
        self.permits.fetch_add(permits as usize, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the permits for further bytes. No body takes more permits than there are.
    fn permits_for(&self, bytes: usize) -> u32 {
        let left = self.budget.max - self.permits.load(Ordering::Relaxed);
        u32::try_from(bytes.min(left)).unwrap_or(u32::MAX)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.budget.free.add_permits(*self.permits.get_mut());
        let mut callers = self.budget.callers();
        if let Some(count) = callers.get_mut(&self.caller) {
            *count = count.saturating_sub(*self.bytes.get_mut());
            if *count == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

type TimeLimit = BoxFuture<'static, ()>;

/// What the middleware of a route needs.
#[derive(Clone)]
pub(crate) struct Budgets {
    pub(crate) requests: Arc<BodyBudget>,
    pub(crate) responses: Arc<BodyBudget>,
    pub(crate) runtime: Arc<dyn Runtime>,
}

impl Budgets {
    /// Counts the body of a request. The bytes count until the account is dropped.
    pub(crate) fn count_request(
        &self,
        caller: Option<&Caller>,
        request: Request,
    ) -> (Request, Option<Arc<Account>>) {
        if request.body().is_end_stream() {
            return (request, None);
        }
        let account = Arc::new(self.requests.account(caller));
        let request = request.map(|body| {
            Body::new(Metered {
                body,
                account: account.clone(),
                runtime: self.runtime.clone(),
                waiting: None,
            })
        });
        (request, Some(account))
    }

    /// Counts the body of a large response.
    pub(crate) fn hold_response(
        &self,
        caller: Option<&Caller>,
        response: Response,
    ) -> Result<Response, Failure> {
        let bytes = response.body().size_hint().exact().unwrap_or_default();
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes <= SMALL_RESPONSE {
            return Ok(response);
        }
        let account = Arc::new(self.responses.hold(caller, bytes)?);
        Ok(response.map(|body| Body::new(Held { body, account })))
    }
}

/// The body of a request whose bytes count as they arrive.
struct Metered {
    body: Body,
    account: Arc<Account>,
    runtime: Arc<dyn Runtime>,
    /// The part of the body that waits for free bytes.
    waiting: Option<(Bytes, BoxFuture<'static, Result<(), OverBudget>>)>,
}

impl Metered {
    /// Counts a part of the body.
    fn count(&mut self, bytes: &Bytes) -> Result<(), OverBudget> {
        self.account.charge(bytes.len())?;
        if self.account.take(bytes.len()).is_err() {
            let timeout = self.runtime.sleep(WAIT_MAX);
            let wait = self.account.clone().wait(bytes.len(), timeout);
            self.waiting = Some((bytes.clone(), Box::pin(wait)));
        }
        Ok(())
    }
}

impl HttpBody for Metered {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.waiting.is_none() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            };
            let Some(bytes) = frame.data_ref().cloned() else {
                return Poll::Ready(Some(Ok(frame)));
            };
            match self.count(&bytes) {
                Err(over) => return Poll::Ready(Some(Err(over.into()))),
                Ok(()) if self.waiting.is_none() => return Poll::Ready(Some(Ok(frame))),
                Ok(()) => {}
            }
        }
        let Some((bytes, wait)) = &mut self.waiting else {
            return Poll::Ready(None);
        };
        let taken = ready!(wait.as_mut().poll(cx));
        let frame = taken.map(|()| Frame::data(std::mem::take(bytes)));
        self.waiting = None;
        Poll::Ready(Some(frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.waiting {
            None => self.body.size_hint(),
            Some(_) => SizeHint::default(),
        }
    }
}

/// The body of a response whose bytes count until they are sent.
struct Held {
    body: Body,
    account: Arc<Account>,
}

/// Bytes that count until they are dropped.
struct Counted {
    bytes: Bytes,
    _account: Arc<Account>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Keeps an account until these bytes are sent, which may be after the body has ended.
pub(crate) fn counted(bytes: Bytes, account: Arc<Account>) -> Bytes {
    Bytes::from_owner(Counted {
        bytes,
        _account: account,
    })
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let account = || self.account.clone();
        Poll::Ready(frame.map(|frame| {
            let frame = frame?;
            Ok(frame.map_data(|bytes| counted(bytes, account())))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
