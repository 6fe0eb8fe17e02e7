//! The state that one turn passes to the next: the task and the last messages.

use serde::{Deserialize, Serialize};

/// The number of messages to keep. Each turn records the conversation and sends it to the model, so
/// it must not grow without limit. A real agent would let the model summarise older messages in a
/// step.
pub const MEMORY: usize = 8;

/// The state of the agent's loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The task of the agent.
    pub task: String,
    /// The number of turns so far.
    pub turns: u32,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author of the message.
    pub from: Speaker,
    /// The text of the message.
    pub text: String,
}

/// The participants of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A tool, with its result.
    Tool,
    /// The person, with an objection.
    Person,
}

impl Conversation {
    /// Starts a conversation.
    #[must_use]
    pub fn about(task: String) -> Self {
        Self {
            task,
            turns: 0,
            messages: Vec::new(),
        }
    }

    /// Returns the conversation after a turn with these messages.
    #[must_use]
    pub fn after(mut self, from: Speaker, text: String) -> Self {
        self.turns += 1;
        self.messages.push(Message { from, text });
        let too_many = self.messages.len().saturating_sub(MEMORY);
        self.messages.drain(..too_many);
        self
    }
}
