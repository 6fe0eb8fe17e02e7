//! A batch import: page after page of a source is copied into a warehouse, 100,000 of them by default.
//!
//! - [`import`]: the workflow. A durable loop whose state is the cursor, one step for each page, branches for the few pages
//!   that need more, and a row that shows how far it is.
//! - [`world`]: the source and the warehouse, faked, so that the tests can count what was copied.
//!
//! Two things are worth watching when it runs. It can be killed at any page and goes on at that page, not at the first.
//! And the journal does not grow: it holds the last few pages, whether the import has done a hundred or a million.

pub mod import;
pub mod world;

pub use import::Import;
pub use world::{Source, Warehouse};
