//! Requests that deliver something to the inbox of a run: events, answers, control requests.

use std::sync::Arc;

use crate::commit::Committer;
use crate::execution::Inbox;
use crate::node::Node;
use crate::workers::Workers;

pub(crate) struct InboxRequests {
    pub(crate) node: Arc<Node>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) inbox: Arc<Inbox>,
}
