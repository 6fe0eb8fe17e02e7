//! Power losses: everything a process does to the files of a store is recorded, the files are
//! rebuilt as they could lie on the disk after a power loss at some moment, and the store is opened
//! from them.
//!
//! ```text
//!   driver (a child)  ──▶ recorder.c ──▶ log of operations, with marks: begun, acknowledged, shown
//!   log up to a point ──▶ disk: what is durable, what is not ──▶ image: nothing, a torn part or all of the unsynced
//!   image             ──▶ opened: all that was acknowledged, the last batch wholly or not at all ──▶ verdict
//!                     ──▶ opened under the recorder: images of the recovery itself
//! ```
//!
//! A workload follows from its seed, and an image from the recording and its own number. When
//! background work happened differs from run to run, so a failing image keeps its recording.

mod content;
mod disk;
mod driver;
mod image;
mod lying_disk;
mod operation;
mod power_loss;
mod random;
mod recording;
mod recovery;
mod scene;
mod shown;
mod verdict;
