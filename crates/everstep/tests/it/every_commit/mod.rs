//! Canonical workflows, each primitive and mixtures with requests of operators, whose process is thrown away after
//! every single commit: what comes out, what is undone in which order, and what happened outside is right every time.

mod branches;
mod control;
mod plain;
mod sagas;
mod world;
