//! Users' workflows in simulations: right ones pass, and each typical mistake is found, told and found again.

mod mistakes;
mod reports;
mod right;
mod shop;
