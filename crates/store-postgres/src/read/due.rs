//! Pending work: timers, ready runs, undelivered effects.

use everstep_model::{NodeId, StreamNumber};
use everstep_store::encoding::{checked_name, decode_effect};
use everstep_store::{OutboxRow, ReadyRun, RowKey, TimerQuery, TimerRow};
use tokio_postgres::Row as Line;

use crate::connection::argument::arguments;
use crate::failure::{CallError, unreadable};
use crate::number::{count, limit, millis, uncount};
use crate::schema::rows::{self, Kind, StoredKey};
use crate::session::Session;

pub(crate) async fn timers(
    session: &Session,
    query: TimerQuery,
) -> Result<Vec<TimerRow>, CallError> {
    let after = query
        .after
        .map(|timer| StoredKey::of(&RowKey::Timer(timer)));
    let (due, stream, key) = match after {
        Some(timer) => (timer.due, count(timer.stream.0), timer.key),
        None => (None, 0, Vec::new()),
    };
    // Two forms, because a comparison of rows with a null does not use the index.
    let condition = match due {
        Some(_) => "(due, stream, key) > ($1, $2, $3)",
        None => "$1::int8 IS NULL AND $2 = 0 AND $3 = ''",
    };
    let statement = format!(
        "SELECT stream, key, value FROM {}.rows WHERE kind = 1 AND due <= $4 AND {condition}
        ORDER BY due, stream, key LIMIT $5",
        session.schema
    );
    let (until, most) = (millis(query.until), limit(query.limit));
    let arguments = arguments![due, stream, key, until, most];
    let lines = session.reads.read(&statement, &arguments).await?;
    undamaged("timers", &lines, |line| {
        let stream = StreamNumber(uncount(line.try_get(0)?));
        let timer = rows::decode_timer(stream, line.try_get(1)?, line.try_get(2)?);
        Ok(timer.map_err(unreadable(format_args!("a timer of stream {stream}")))?)
    })
}

pub(crate) async fn ready(
    session: &Session,
    after: Option<StreamNumber>,
    most: usize,
) -> Result<Vec<ReadyRun>, CallError> {
    let schema = &session.schema;
    let statement = format!(
        "SELECT r.stream, r.workflow, r.version, n.node FROM {schema}.runs r
        JOIN {schema}.streams s ON s.number = r.stream
        LEFT JOIN {schema}.nodes n ON n.node = s.owner AND n.until > coalesce($3, {schema}.clock_millis())
        WHERE r.ready AND r.stream > $1 ORDER BY r.stream LIMIT $2"
    );
    // Numbers begin at 1.
    let after = after.map_or(0, |number| count(number.0));
    let (most, now) = (limit(most), session.now());
    let arguments = arguments![after, most, now];
    let lines = session.reads.read(&statement, &arguments).await?;
    undamaged("ready runs", &lines, |line| {
        let version: i64 = line.try_get(2)?;
        let node: Option<i64> = line.try_get(3)?;
        let stream = StreamNumber(uncount(line.try_get(0)?));
        let workflow = checked_name(line.try_get(1)?);
        Ok(ReadyRun {
            stream,
            workflow: workflow
                .map_err(unreadable(format_args!("the workflow of stream {stream}")))?,
            version: u32::try_from(version).unwrap_or(u32::MAX),
            executed_by: node.map(|node| NodeId(node.cast_unsigned())),
        })
    })
}

pub(crate) async fn outbox(
    session: &Session,
    after: Option<(StreamNumber, String)>,
    most: usize,
) -> Result<Vec<OutboxRow>, CallError> {
    let statement = format!(
        "SELECT stream, value FROM {}.rows WHERE kind = $1 AND (stream, key) > ($2, $3) ORDER BY stream, key LIMIT $4",
        session.schema
    );
    let after = after.map(|(stream, key)| StoredKey::of(&RowKey::Outbox(stream, key)));
    let (stream, key) = match after {
        Some(effect) => (count(effect.stream.0), effect.key),
        // Before all streams.
        None => (-1, Vec::new()),
    };
    let (kind, most) = (Kind::Outbox.code(), limit(most));
    let arguments = arguments![kind, stream, key, most];
    let lines = session.reads.read(&statement, &arguments).await?;
    let effects = lines.iter().map(|line| {
        let stream = StreamNumber(uncount(line.try_get(0)?));
        let effect = decode_effect(stream, line.try_get(1)?);
        Ok(effect.map_err(unreadable(format_args!("an effect of stream {stream}")))?)
    });
    effects.collect()
}

/// Decodes lines, and logs and leaves out damaged ones, so that one damaged run does not block the
/// others.
pub(crate) fn undamaged<T>(
    list: &str,
    lines: &[Line],
    decode: impl Fn(&Line) -> Result<T, CallError>,
) -> Result<Vec<T>, CallError> {
    let mut found = Vec::with_capacity(lines.len());
    for line in lines {
        match decode(line) {
            Ok(row) => found.push(row),
            Err(CallError::Failed(error)) if error.is_damage() => {
                tracing::error!(%error, "damaged row left out of the {list}");
            }
            Err(call_error) => return Err(call_error),
        }
    }
    Ok(found)
}
