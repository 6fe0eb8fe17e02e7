//! The rules of loops.
