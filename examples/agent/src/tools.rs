//! Fake tools that record their calls. Replace them with real ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::ToolCall;

/// The model chose a tool that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no tool `{0}`")]
pub struct NoSuchTool(String);

/// The tools of the agent. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Duration of a call.
    pub latency: Duration,
    /// The executed calls by idempotency key.
    calls: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Tools {
    /// Creates tools whose calls take this long.
    #[must_use]
    pub fn slow(latency: Duration) -> Self {
        Self {
            latency,
            ..Self::default()
        }
    }

    /// Executes a call and returns its result. Repeated calls with the same key execute it once.
    ///
    /// # Errors
    /// Fails if there is no such tool.
    pub async fn call(&self, key: String, call: &ToolCall) -> Result<String, NoSuchTool> {
        let arguments = &call.arguments;
        let result = match call.tool.as_str() {
            "search_flights" => "TP 533 leaves at nine".to_owned(),
            "book_flight" => format!("booked {}", arguments["flight"]),
            "send_mail" => format!("sent a mail to {}", arguments["to"]),
            unknown => return Err(NoSuchTool(unknown.to_owned())),
        };
        self.calls().insert(key, call.tool.clone());
        // The work is done but the result is not recorded yet. A crash here is the reason for the
        // key.
        tokio::time::sleep(self.latency).await;
        Ok(result)
    }

    /// Counts the executed calls of a tool.
    #[must_use]
    pub fn uses(&self, tool: &str) -> usize {
        let calls = self.calls();
        calls.values().filter(|used| *used == tool).count()
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
