//! Reads answers that come in pages, with the header `Everstep-Cursor`.

use everstep_protocol::client::{Answer, Call, CallError, segment};
use serde_json::value::RawValue;

use crate::context::Context;
use crate::reconnect;

const CURSOR: &str = "everstep-cursor";

/// The pages of a timeline.
pub(super) struct TimelinePages {
    path: String,
    /// `None` after the last line of a run that has ended.
    query: Option<String>,
}

impl TimelinePages {
    /// Begins at a record.
    pub(super) fn of(run: &str, from: u64) -> Self {
        Self {
            path: format!("workflows/{}/timeline", segment(run)),
            query: Some(format!("?from={from}")),
        }
    }

    /// Returns the next lines. `None` if there are none at this time. With `is_patient`, it
    /// reconnects and retries.
    pub(super) async fn next(
        &mut self,
        context: &Context,
        is_patient: bool,
    ) -> anyhow::Result<Option<Vec<Box<RawValue>>>> {
        let Some(query) = &self.query else {
            return Ok(None);
        };
        let call = Call::get(format!("{}{query}", self.path));
        let answer = match is_patient {
            true => reconnect::send(context, &call).await?,
            false => context.server.send(call).await?,
        };
        self.query = cursor_query(&answer);
        let lines: Vec<Box<RawValue>> = answer.json()?;
        Ok(Some(lines).filter(|lines| !lines.is_empty()))
    }
}

/// Returns the records of a run, one per line.
pub(super) async fn records(context: &Context, path: &str) -> Result<Vec<u8>, CallError> {
    let mut records = Vec::new();
    let mut query = Some(String::new());
    while let Some(of_page) = query {
        let answer = context
            .server
            .send(Call::get(format!("{path}{of_page}")))
            .await?;
        query = cursor_query(&answer);
        records.extend_from_slice(&answer.body);
    }
    Ok(records)
}

fn cursor_query(answer: &Answer) -> Option<String> {
    let cursor = answer.header(CURSOR)?;
    Some(format!("?cursor={}", segment(cursor)))
}
