//! Users' workflows in simulations: correct ones pass, and each typical mistake is found, reported
//! and reproduced.

mod mistakes;
mod reports;
mod right;
mod shop;
