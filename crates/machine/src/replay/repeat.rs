//! Loops: which iterations the journal still holds, and where each begins.
