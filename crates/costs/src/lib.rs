//! The pieces of the hot path, each on its own: `cargo xtask costs` counts their instructions.
//!
//! Everything here runs on one thread, in virtual time where there is an engine, and does the same at each call: the
//! number of instructions is then a property of the code, not of the machine or its mood.

#![allow(
    clippy::unwrap_used,
    reason = "a measurement that cannot be made has no result"
)]

mod codec;
mod commit;
mod engine;
mod replay;

use everstep_model::Timestamp;

/// What a piece does each time it is called.
pub type Operation = Box<dyn FnMut()>;

/// One piece of the hot path.
#[derive(Debug)]
pub struct Piece {
    /// How it is called on the command line and in the file of counts.
    pub name: &'static str,
    /// What is done once.
    pub about: &'static str,
    /// Makes everything ready that does not belong to it.
    pub prepare: fn() -> Operation,
}

/// All of them, from the inside out.
pub const PIECES: &[Piece] = &[
    Piece {
        name: "encode",
        about: "the frame of one step's result is written as bytes",
        prepare: codec::encode,
    },
    Piece {
        name: "decode",
        about: "the frame of one step's result is read back",
        prepare: codec::decode,
    },
    Piece {
        name: "replay",
        about: "a journal of 100 steps is replayed against its code",
        prepare: replay::hundred_steps,
    },
    Piece {
        name: "commit",
        about: "64 results of steps become durable in one batch of the embedded store",
        prepare: commit::batch,
    },
    Piece {
        name: "ten-steps",
        about: "a run of ten steps from its start to its durable result, alone",
        prepare: engine::one_run,
    },
    Piece {
        name: "ten-steps-64",
        about: "64 runs of ten steps at the same time",
        prepare: engine::many_runs,
    },
    Piece {
        name: "event",
        about: "a run waits for an event, gets it and ends",
        prepare: engine::one_event,
    },
];

/// A result of 100 bytes, as JSON.
const RESULT: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01";

/// When everything happens that has no engine with a clock.
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
