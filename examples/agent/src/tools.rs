//! The tools, faked: they remember what was done with them. Put real ones here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::ToolCall;

/// The model asked for a tool that does not exist, which models do.
#[derive(Debug, thiserror::Error)]
#[error("there is no tool `{0}`")]
pub struct NoSuchTool(String);

/// What the agent can do in the world. Clones are the same tools.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// How long a call takes.
    pub latency: Duration,
    /// The tool that was used, by the key it was used with.
    calls: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Tools {
    /// Tools that take this long.
    #[must_use]
    pub fn slow(latency: Duration) -> Self {
        Self {
            latency,
            ..Self::default()
        }
    }

    /// Does it, and says what came of it. The same key does it once, however often it is sent.
    ///
    /// # Errors
    /// If there is no such tool.
    pub async fn call(&self, key: String, call: &ToolCall) -> Result<String, NoSuchTool> {
        let arguments = &call.arguments;
        let result = match call.tool.as_str() {
            "search_flights" => "TP 533 leaves at nine".to_owned(),
            "book_flight" => format!("booked {}", arguments["flight"]),
            "send_mail" => format!("sent a mail to {}", arguments["to"]),
            unknown => return Err(NoSuchTool(unknown.to_owned())),
        };
        self.calls().insert(key, call.tool.clone());
        // The work is done, the answer is on its way: a crash now is what the key is for.
        tokio::time::sleep(self.latency).await;
        Ok(result)
    }

    /// How often a tool did something.
    #[must_use]
    pub fn uses(&self, tool: &str) -> usize {
        let calls = self.calls();
        calls.values().filter(|used| *used == tool).count()
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
