//! The model, faked: it reads its lines from a script. Put a client of a real one here.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversation::Conversation;

/// What the model wants to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// Call a tool.
    Call(ToolCall),
    /// Say that it is done, and what came of it.
    Answer(String),
}

/// A tool and what it is called with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Which tool.
    pub tool: String,
    /// With what.
    pub arguments: Value,
}

/// A model that calls the tools of its script, one a turn, and then reports what it heard.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What it calls.
    pub script: Vec<ToolCall>,
    /// How long it thinks.
    pub latency: Duration,
}

impl Model {
    /// A model that plans a trip, and tells rather too many people.
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

    /// What to do next.
    pub async fn next(&self, conversation: &Conversation) -> Move {
        tokio::time::sleep(self.latency).await;
        let turn = usize::try_from(conversation.turns).unwrap_or(usize::MAX);
        if let Some(call) = self.script.get(turn) {
            return Move::Call(call.clone());
        }
        let heard = conversation.messages.iter();
        let heard: Vec<_> = heard.map(|message| message.text.as_str()).collect();
        Move::Answer(format!("{}: {}", conversation.task, heard.join("; ")))
    }
}
