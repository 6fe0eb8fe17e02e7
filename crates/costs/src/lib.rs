//! Separate measurements of the parts of the hot path: `cargo xtask costs` counts their instructions.
//!
//! Everything runs on one thread, with an engine in virtual time, and does the same on each call.
//! The number of instructions therefore depends only on the code.

#![allow(
    clippy::unwrap_used,
    reason = "a measurement that cannot be made has no result"
)]

mod codec;
mod commit;
mod engine;
mod replay;

use everstep_model::Timestamp;

/// The measured operation.
pub type Operation = Box<dyn FnMut()>;

/// A part of the hot path.
#[derive(Debug)]
pub struct Piece {
    /// Its name on the command line and in `instructions.txt`.
    pub name: &'static str,
    /// Describes the operation that is counted.
    pub about: &'static str,
    /// Prepares the operation; not measured.
    pub prepare: fn() -> Operation,
}

/// All parts, innermost first.
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

/// A step result of 100 bytes, as JSON.
const RESULT: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01";

/// The fixed time of benchmarks without an engine.
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
