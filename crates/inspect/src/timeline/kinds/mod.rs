//! The sentence and the details of each kind of record, grouped by theme.

mod branches;
mod lifecycle;
mod messages;
mod phrase;
mod requests;
mod steps;
mod waits;
