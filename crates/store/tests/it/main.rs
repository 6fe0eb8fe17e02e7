//! The in-memory reference fulfils the contract.

mod memory;
