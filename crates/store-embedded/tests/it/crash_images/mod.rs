//! Power losses: all file operations of a process are recorded, the files are rebuilt as a power
//! loss at some point could leave them, and the store is opened from them.
//!
//! ```text
//!   driver (a child)  ──▶ recorder.c ──▶ log of operations, with marks: begun, acknowledged, visible
//!   log up to a point ──▶ disk: durable and unsynced data ──▶ image: none, a part or all of the unsynced data
//!   image             ──▶ opened: all acknowledged batches, the last one completely or not at all ──▶ verdict
//!                     ──▶ opened under the recorder: images of the recovery itself
//! ```
//!
//! A workload is determined by its seed, and an image by the recording and its own number. The
//! timing of background work differs from run to run, so the files of a failing image are kept.

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
mod verdict;
mod visible;
