//! What the methods of streams share.

use std::sync::Arc;

use everstep_engine::streams::{Reader, Streams};
use everstep_protocol::access::View;

use super::query::Query;
use crate::body::BodyLimits;
use crate::options::Options;
use crate::permits::WaitPermits;
use crate::subscriptions::Subscriptions;

pub(crate) struct StreamServer {
    pub(crate) streams: Streams,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) wait_permits: WaitPermits,
    pub(crate) body_limits: BodyLimits,
    pub(crate) options: Arc<Options>,
}

/// A read in progress, of a user's stream or of a journal.
pub(crate) struct Reading {
    pub(crate) reader: Reader,
    pub(crate) query: Query,
    /// The view of a journal. `None` for a user's stream.
    pub(crate) view: Option<View>,
}
