//! Tests of the kit: all cases run, a faulty store is detected, and the wrappers work.

mod completeness;
mod detection;
mod wrappers;
