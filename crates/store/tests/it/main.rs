//! The reference keeps the contract it is the reference for.

mod memory;
