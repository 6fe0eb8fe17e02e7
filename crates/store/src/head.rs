//! The head of a stream: all that guards are judged by.

use std::sync::Arc;

use everstep_model::{
    Epoch, FrameHeader, NodeId, Nonce, RecordNumber, StreamName, StreamNumber, Term,
};

use crate::commit::{Fence, Gate};
use crate::list::RunRow;

/// Who may execute a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The node; the right is void when its lease is.
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
    /// Its life.
    pub term: Term,
    /// The number the next record will have.
    pub next: RecordNumber,
    /// Counts and the last executor commit, as of the last frame.
    pub frame: FrameHeader,
    /// The highest epoch granted; the current one if there is an owner.
    pub epoch: Epoch,
    /// Who may execute it; nobody while it is suspended.
    pub owner: Option<Owner>,
    /// How often it was taken from a node that died while executing it, without progress in between.
    pub takeovers: u32,
    /// Whether it has something to do.
    pub ready: bool,
    /// Whether the run may be claimed.
    pub gate: Gate,
    /// Whether it takes no more records.
    pub closed: bool,
    /// Whether a later stream has its place in the lists.
    pub superseded: bool,
    /// The run it belongs to, if it is a journal. Shared, because heads change with every commit and this hardly ever.
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

    /// The run as lists show it; none if they do not.
    #[must_use]
    pub fn listed(&self) -> Option<&RunRow> {
        self.run.as_deref().filter(|_| !self.superseded)
    }

    /// The right that is in force.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        self.owner.map(|owner| Fence {
            epoch: self.epoch,
            nonce: owner.nonce,
        })
    }
}
