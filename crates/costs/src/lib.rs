//! Separate measurements of the parts of the hot path: `cargo xtask costs` counts their
//! instructions.
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
        about: "encodes the frame of one step's result",
        prepare: codec::encode,
    },
    Piece {
        name: "decode",
        about: "decodes the frame of one step's result",
        prepare: codec::decode,
    },
    Piece {
        name: "replay",
        about: "replays a journal of 100 steps",
        prepare: replay::hundred_steps,
    },
    Piece {
        name: "commit",
        about: "commits 64 results of steps in one batch to the embedded store",
        prepare: commit::batch,
    },
    Piece {
        name: "ten-steps",
        about: "executes a run of ten steps from its start to its durable result",
        prepare: engine::one_run,
    },
    Piece {
        name: "ten-steps-64",
        about: "executes 64 runs of ten steps concurrently",
        prepare: engine::many_runs,
    },
    Piece {
        name: "event",
        about: "executes a run that waits for an event and receives it",
        prepare: engine::one_event,
    },
];

/// A step result of 100 bytes, as JSON.
const RESULT: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01";

/// The fixed time of benchmarks without an engine.
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
