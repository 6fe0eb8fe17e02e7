//! Which runs this node may claim: those that one of its workers executes and has room for.

use std::sync::Arc;

use everstep_model::{Nonce, StreamNumber};
use everstep_store::{Claim, RunRow};

use super::resident::ResidentRuns;
use crate::node::Node;
use crate::workers::Workers;

pub(crate) struct Claims {
    pub(crate) node: Arc<Node>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) resident: Arc<ResidentRuns>,
}

impl Claims {
    /// A claim for this node. The store grants it if no living node has the run.
    pub(crate) fn claim(&self) -> Claim {
        Claim {
            node: self.node.id,
            nonce: Nonce(self.node.runtime.random()),
        }
    }

    /// A claim for a new run, if this node has room for it.
    pub(crate) fn for_new(&self, workflow: &everstep_model::Name, version: u32) -> Option<Claim> {
        let has_room = self.workers.has_room(workflow, version);
        has_room.then(|| self.claim())
    }

    /// A claim for a run that something is delivered to. A run in memory resumes where it is,
    /// whether or not there is room.
    pub(crate) fn for_delivery(&self, stream: StreamNumber, run: &RunRow) -> Option<Claim> {
        let worker = self.workers.executor(&run.workflow, run.version)?;
        let may_claim = !worker.is_full() || self.resident.contains(stream);
        (may_claim && !self.node.is_closing()).then(|| self.claim())
    }
}
