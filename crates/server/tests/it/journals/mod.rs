//! Journals as streams, through the router, on a virtual clock.

mod appending;
mod reading;
mod rows;
mod waiting;
mod waits;
