//! What is in flight on one HTTP/2 connection: how long it has been idle, and since when its client
//! has not taken what a response offers. On HTTP/1.1 the socket shows both.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

/// The size of the parts in which a response is passed to HTTP/2.
const PART_BYTES: usize = 16 * 1024;

pub(super) struct Progress(Mutex<State>);

struct State {
    last: u64,
    /// The requests in flight, with the time since which their response offers bytes.
    requests: HashMap<u64, Option<Instant>>,
    idle_since: Instant,
}

impl Progress {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            last: 0,
            requests: HashMap::new(),
            idle_since: Instant::now(),
        })))
    }

    /// Begins a request, unless so many are in flight.
    pub(super) fn begin(self: &Arc<Self>, requests_max: usize) -> Option<InFlight> {
        let mut state = self.state();
        if state.requests.len() >= requests_max {
            return None;
        }
        state.last += 1;
        let id = state.last;
        state.requests.insert(id, None);
        Some(InFlight {
            progress: self.clone(),
            id,
        })
    }

    /// Returns whether no request has been in flight for this long.
    pub(super) fn is_idle_for(&self, time: Duration) -> bool {
        let state = self.state();
        state.requests.is_empty() && state.idle_since.elapsed() >= time
    }

    /// Returns whether the client has not taken the bytes of a response for this long.
    pub(super) fn is_stalled_for(&self, time: Duration) -> bool {
        let state = self.state();
        let mut offered = state.requests.values().flatten();
        offered.any(|since| since.elapsed() >= time)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight, until its response is sent or dropped.
pub(super) struct InFlight {
    progress: Arc<Progress>,
    id: u64,
}

impl InFlight {
    /// Watches the body of the response. The connection asks for its next part when the client has
    /// taken the previous one.
    pub(super) fn watch(self, body: Body) -> Watched {
        self.set(Some(Instant::now()));
        Watched {
            body,
            rest: Bytes::new(),
            in_flight: self,
        }
    }

    fn set(&self, offered_since: Option<Instant>) {
        let mut state = self.progress.state();
        state.requests.insert(self.id, offered_since);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.progress.state();
        state.requests.remove(&self.id);
        state.idle_since = Instant::now();
    }
}

/// The body of a response, in parts of limited size. What the client has not taken stays here,
/// where it is counted.
pub(super) struct Watched {
    body: Body,
    /// The rest of the last part.
    rest: Bytes,
    in_flight: InFlight,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let frame = Pin::new(&mut self.body).poll_frame(cx);
            self.in_flight.set(frame.is_ready().then(Instant::now));
            match ready!(frame) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.rest = bytes,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return Poll::Ready(ended),
            }
        } else {
            self.in_flight.set(Some(Instant::now()));
        }
        let bytes = self.rest.len().min(PART_BYTES);
        let part = self.rest.split_to(bytes);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.body.size_hint().exact() {
            Some(bytes) => SizeHint::with_exact(bytes + self.rest.len() as u64),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(body: &mut Watched) -> Option<usize> {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        frame.map(|frame| frame.unwrap().data_ref().unwrap().len())
    }

    // B783
    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_take_a_response_is_not_idle_but_stalled() {
        let second = Duration::from_secs(1);
        let progress = Progress::new();
        tokio::time::advance(second).await;
        assert!(progress.is_idle_for(second));
        let in_flight = progress.begin(1).unwrap();
        assert!(progress.begin(1).is_none());
        tokio::time::advance(10 * second).await;
        assert!(!progress.is_idle_for(second) && !progress.is_stalled_for(second));
        let mut body = in_flight.watch(Body::from(vec![7; 2 * PART_BYTES + 1]));
        for bytes in [PART_BYTES, PART_BYTES, 1] {
            tokio::time::advance(second).await;
            assert!(progress.is_stalled_for(second));
            assert_eq!(next(&mut body).await, Some(bytes));
            assert!(!progress.is_stalled_for(second));
        }
        assert!(body.is_end_stream());
        drop(body);
        assert!(!progress.is_idle_for(second));
        tokio::time::advance(second).await;
        assert!(progress.is_idle_for(second) && !progress.is_stalled_for(second));
    }
}
