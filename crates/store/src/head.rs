//! The head of a stream: the state that commits are judged against.

use std::sync::Arc;

use everstep_model::{
    Epoch, FrameHeader, NodeId, Nonce, RecordNumber, StreamName, StreamNumber, Term,
};

use crate::commit::{Fence, Gate};
use crate::list::RunRow;

/// The holder of the right to execute a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The node. Its right ends when its lease expires.
    pub node: NodeId,
    /// The random mark of its claim.
    pub nonce: Nonce,
}

/// What a store knows about a stream without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The stream.
    pub number: StreamNumber,
    /// Its name.
    pub name: StreamName,
    /// Higher than the term of any stream that was removed before it was created.
    pub term: Term,
    /// The number the next record will have.
    pub next: RecordNumber,
    /// Counts and the last executor commit, as of the last frame.
    pub frame: FrameHeader,
    /// The highest epoch granted; the current one if there is an owner.
    pub epoch: Epoch,
    /// The holder of the right to execute it; `None` while it is suspended.
    pub owner: Option<Owner>,
    /// How often it was taken from a node that died while executing it, without progress in
    /// between.
    pub takeovers: u32,
    /// Whether it has something to do.
    pub ready: bool,
    /// Whether the run may be claimed.
    pub gate: Gate,
    /// Whether it takes no more records.
    pub closed: bool,
    /// Whether a later generation replaces it in the lists.
    pub superseded: bool,
    /// The run, if the stream is its journal. Shared, because heads change with every commit and
    /// this rarely does.
    pub run: Option<Arc<RunRow>>,
}

impl Head {
    /// The head of a stream that is about to be created.
    #[must_use]
    pub fn new(number: StreamNumber, name: StreamName, term: Term) -> Self {
        Self {
            number,
            name,
            term,
            next: RecordNumber(0),
            frame: FrameHeader::default(),
            epoch: Epoch(0),
            owner: None,
            takeovers: 0,
            ready: false,
            gate: Gate::Open,
            closed: false,
            superseded: false,
            run: None,
        }
    }

    /// The list row of the run; `None` if lists do not show it.
    #[must_use]
    pub fn listed(&self) -> Option<&RunRow> {
        self.run.as_deref().filter(|_| !self.superseded)
    }

    /// The current right to execute the run.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        self.owner.map(|owner| Fence {
            epoch: self.epoch,
            nonce: owner.nonce,
        })
    }
}
