//! The records that a store has before a test engine opens it.

use everstep_model::{RecordNumber, StreamName, Timestamp};
use everstep_store::{ListQuery, ReadRequest, Store, StoreError, StreamRef};

/// Returns the time of the newest record of all runs.
pub(super) async fn newest_record(store: &dyn Store) -> Result<Option<Timestamp>, StoreError> {
    let mut newest = None;
    let mut query = ListQuery {
        limit: 1_000,
        ..ListQuery::default()
    };
    loop {
        let page = store.list(query.clone()).await?;
        for row in page.rows {
            let name = StreamName::of_run(&row.id, row.generation);
            newest = newest.max(last_record(store, name).await?);
        }
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => return Ok(newest),
        }
    }
}

async fn last_record(
    store: &dyn Store,
    stream: StreamName,
) -> Result<Option<Timestamp>, StoreError> {
    let Some(head) = store.head(StreamRef::Name(stream)).await? else {
        return Ok(None);
    };
    let request = ReadRequest {
        stream: head.number,
        from: RecordNumber(head.next.0.saturating_sub(1)),
        limit: 1,
        bytes: 1,
    };
    let page = store.read(request).await?.unwrap_or_default();
    Ok(page.entries.last().map(|entry| entry.record.time))
}
