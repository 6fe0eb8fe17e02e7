//! What one turn tells the next: the task, and the last few messages.

use serde::{Deserialize, Serialize};

/// How many messages are kept. The conversation is written down at each turn and sent to the model at each turn, so it
/// must not grow without end. A real agent would have the model summarise what it forgets, in a step.
pub const MEMORY: usize = 8;

/// The state of the agent's loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// What the agent is to do.
    pub task: String,
    /// How many turns it took so far.
    pub turns: u32,
    /// What was said, the latest last.
    pub messages: Vec<Message>,
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// By whom.
    pub from: Speaker,
    /// What.
    pub text: String,
}

/// Who takes part in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A tool, with its result.
    Tool,
    /// The person, with an objection.
    Person,
}

impl Conversation {
    /// A new conversation.
    #[must_use]
    pub fn about(task: String) -> Self {
        Self {
            task,
            turns: 0,
            messages: Vec::new(),
        }
    }

    /// The same conversation after a turn, in which this was said.
    #[must_use]
    pub fn after(mut self, from: Speaker, text: String) -> Self {
        self.turns += 1;
        self.messages.push(Message { from, text });
        let too_many = self.messages.len().saturating_sub(MEMORY);
        self.messages.drain(..too_many);
        self
    }
}
