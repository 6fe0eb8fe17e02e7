//! The description of each kind of record, grouped by theme.

mod branches;
mod lifecycle;
mod messages;
mod requests;
mod steps;
mod waits;

use super::describe::{Describe, Description};
use super::elapsed::Elapsed;
use super::line::Outcome;
