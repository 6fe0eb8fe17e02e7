//! A batch import that copies pages of a source into a warehouse, 100,000 by default.
//!
//! - [`import`]: the workflow. A durable loop whose state is the cursor, one step per page,
//!   branches for the few pages with pictures, and a row with the progress.
//! - [`world`]: a fake source and warehouse, so that the tests can count what was copied.
//!
//! The import can be killed at any page and continues with that page, not with the first. The
//! journal does not grow: it contains the last few pages, whether the import has copied a hundred
//! or a million.

pub mod import;
pub mod world;

pub use import::Import;
pub use world::{Source, Warehouse};
