//! The parts of the engine that execution and requests share, and the claims of this node: it may
//! claim the runs that one of its workers executes and has room for.

use std::sync::Arc;

use everstep_model::{Name, Nonce, StreamNumber};
use everstep_store::{Claim, RunRow};

use super::resident::ResidentRuns;
use crate::commit::{Committer, PostCommitSink};
use crate::node::Node;
use crate::observers::Watchers;
use crate::workers::Workers;

pub(crate) struct Parts {
    pub(crate) node: Arc<Node>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) post_commit: PostCommitSink,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) resident: ResidentRuns,
}

impl Parts {
    /// Returns a claim for this node. The store grants it if no living node has the run.
    pub(super) fn claim(&self) -> Claim {
        Claim {
            node: self.node.id,
            nonce: Nonce(self.node.runtime.random()),
        }
    }

    /// Returns a claim for a new run, if this node has room for it.
    pub(crate) fn claim_new(&self, workflow: &Name, version: u32) -> Option<Claim> {
        let has_room = self.workers.has_room(workflow, version);
        has_room.then(|| self.claim())
    }

    /// Returns a claim for a run that something is delivered to. A run in memory resumes where it
    /// is, whether or not there is room.
    pub(crate) fn claim_for_delivery(&self, stream: StreamNumber, run: &RunRow) -> Option<Claim> {
        let worker = self.workers.executor(&run.workflow, run.version)?;
        let may_claim = !worker.is_full() || self.resident.contains(stream);
        (may_claim && !self.node.is_closing()).then(|| self.claim())
    }
}
