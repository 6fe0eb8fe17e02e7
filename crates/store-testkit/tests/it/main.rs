//! The kit is whole: no case is forgotten, a broken store is caught, and the wrappers do what they
//! say.

mod completeness;
mod detection;
mod wrappers;
