//! A fake model that follows a script. Replace it with a client of a real model.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversation::Conversation;

/// The next action of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// Call a tool.
    Call(ToolCall),
    /// Finish with a result.
    Answer(String),
}

/// A tool and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

/// A model that calls the tools of its script, one per turn, and then reports their results.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The calls to make.
    pub script: Vec<ToolCall>,
    /// How long each answer takes.
    pub latency: Duration,
}

impl Model {
    /// Creates a model that plans a trip and sends too many mails.
    #[must_use]
    pub fn travel_agent(latency: Duration) -> Self {
        let call = |tool: &str, arguments| ToolCall {
            tool: tool.to_owned(),
            arguments,
        };
        let script = vec![
            call("search_flights", json!({"to": "Lisbon"})),
            call("book_flight", json!({"flight": "TP 533"})),
            call("send_mail", json!({"to": "everyone@example.com"})),
        ];
        Self { script, latency }
    }

    /// Returns the next action.
    pub async fn next(&self, conversation: &Conversation) -> Move {
        tokio::time::sleep(self.latency).await;
        let turn = usize::try_from(conversation.turns).unwrap_or(usize::MAX);
        if let Some(call) = self.script.get(turn) {
            return Move::Call(call.clone());
        }
        let texts = conversation.messages.iter();
        let texts: Vec<_> = texts.map(|message| message.text.as_str()).collect();
        Move::Answer(format!("{}: {}", conversation.task, texts.join("; ")))
    }
}
