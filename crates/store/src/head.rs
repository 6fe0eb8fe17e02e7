//! The head of a stream: the state that commits are judged against.

use std::sync::Arc;

use everstep_model::{
    Epoch, FrameHeader, NodeId, Nonce, RecordNumber, StreamName, StreamNumber, Term,
};

use crate::commit::{Fence, Gate};
use crate::list::RunRow;

/// The holder of the right to execute a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Owner {
    /// The right ends when the lease of this node expires.
    pub node: NodeId,
    pub nonce: Nonce,
}

/// The current state of a stream, available without reading its records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Head {
    pub number: StreamNumber,
    pub name: StreamName,
    /// Higher than the term of any stream that was removed before it was created.
    pub term: Term,
    /// The number of the next record.
    pub next: RecordNumber,
    /// Counts and the last executor commit, as of the last frame.
    pub frame: FrameHeader,
    /// The highest epoch granted; the current one if there is an owner.
    pub epoch: Epoch,
    /// `None` while the run is suspended.
    pub owner: Option<Owner>,
    /// The number of takeovers from a node that failed while it executed the run, since the last
    /// progress.
    pub takeovers: u32,
    /// The ready mark.
    pub ready: bool,
    pub gate: Gate,
    /// Whether the stream accepts no more records.
    pub closed: bool,
    /// Whether a later generation replaces the stream in the lists.
    pub superseded: bool,
    /// The run, if the stream is its journal. Behind an `Arc`, because heads change with every
    /// commit and this part rarely does.
    pub run: Option<Arc<RunRow>>,
}

impl Head {
    /// Returns the head of a new, empty stream.
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

    /// Returns the list row of the run, or `None` if lists do not show the stream.
    #[must_use]
    pub fn listed(&self) -> Option<&RunRow> {
        self.run.as_deref().filter(|_| !self.superseded)
    }

    /// Returns the fence of the current owner.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        self.owner.map(|owner| Fence {
            epoch: self.epoch,
            nonce: owner.nonce,
        })
    }
}
