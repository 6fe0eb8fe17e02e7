//! An AI agent: a model that repeatedly chooses the next action, tools that execute it, and a
//! person who approves each tool call.
//!
//! - [`agent`]: the workflow. A durable loop of turns, steps for the model and the tools, a
//!   question to the person with a timeout, and an event that stops the agent.
//! - [`conversation`]: the state that one turn passes to the next, and why it stays small.
//! - [`model`] and [`tools`]: fakes, so that the example runs without an account and the tests are
//!   deterministic. Replace them with a client of a real model and real tools.
//!
//! A model's answer costs money and differs each time, and tools have side effects. Both are steps,
//! so a crash repeats neither. The person may take a week: the agent waits in the store, not in
//! memory.

pub mod agent;
pub mod conversation;
pub mod model;
pub mod tools;

pub use agent::Agent;
pub use conversation::Conversation;
pub use model::Model;
pub use tools::Tools;
