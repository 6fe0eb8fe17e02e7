//! An AI agent: a model that is asked again and again what to do next, tools that do it, and a person who approves each
//! call of a tool before it is made.
//!
//! - [`agent`]: the workflow. A durable loop of turns, steps for the model and the tools, a question to the person with a
//!   time limit, and an event by which the person can stop it all.
//! - [`conversation`]: what one turn tells the next, and why that stays small.
//! - [`model`] and [`tools`]: faked, so that it runs without an account and the tests know what comes. Put a client of a
//!   real model here, and real tools.
//!
//! A model's answer costs money and is never the same twice; a tool changes the world. Both are steps, so a crash repeats
//! neither. The person may take a week: the agent waits in the store, not in memory.

pub mod agent;
pub mod conversation;
pub mod model;
pub mod tools;

pub use agent::Agent;
pub use conversation::Conversation;
pub use model::Model;
pub use tools::Tools;
