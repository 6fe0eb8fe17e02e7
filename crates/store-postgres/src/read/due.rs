//! Pending work: timers, ready runs, undelivered effects.

use everstep_model::{NodeId, StreamNumber};
use everstep_store::encoding::{checked_name, decode_effect};
use everstep_store::{OutboxRow, ReadyRun, RowKey, StoreError, TimerQuery, TimerRow};
use tokio_postgres::Row as Line;
use tokio_postgres::types::Type;

use crate::connection::argument::Argument;
use crate::failure::{self, CallError};
use crate::number::{count, limit, millis, uncount};
use crate::read::reading::unusable_error;
use crate::schema::head::Unusable;
use crate::schema::row_place::{self, Kind, RowPlace};
use crate::session::Session;

pub(crate) async fn timers(
    session: &Session,
    query: TimerQuery,
) -> Result<Vec<TimerRow>, StoreError> {
    let after = query.after.map(|timer| RowPlace::of(&RowKey::Timer(timer)));
    let (due, stream, key) = match after {
        Some(place) => (place.due, count(place.stream.0), place.key),
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
    let arguments: [Argument<'_>; 5] = [
        (&due, Type::INT8),
        (&stream, Type::INT8),
        (&key, Type::BYTEA),
        (&until, Type::INT8),
        (&most, Type::INT8),
    ];
    let lines = session.reads.read(&statement, &arguments).await;
    sound("timers", &lines.map_err(CallError::into_error)?, |line| {
        let stream = StreamNumber(uncount(line.try_get(0)?));
        Ok(row_place::timer(
            stream,
            line.try_get(1)?,
            line.try_get(2)?,
        )?)
    })
}

pub(crate) async fn ready(
    session: &Session,
    after: Option<StreamNumber>,
    most: usize,
) -> Result<Vec<ReadyRun>, StoreError> {
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
    let arguments: [Argument<'_>; 3] = [
        (&after, Type::INT8),
        (&most, Type::INT8),
        (&now, Type::INT8),
    ];
    let lines = session.reads.read(&statement, &arguments).await;
    sound(
        "ready runs",
        &lines.map_err(CallError::into_error)?,
        |line| {
            let version: i64 = line.try_get(2)?;
            let node: Option<i64> = line.try_get(3)?;
            Ok(ReadyRun {
                stream: StreamNumber(uncount(line.try_get(0)?)),
                workflow: checked_name(line.try_get(1)?)?,
                version: u32::try_from(version).unwrap_or(u32::MAX),
                executed_by: node.map(|node| NodeId(node.cast_unsigned())),
            })
        },
    )
}

pub(crate) async fn outbox(
    session: &Session,
    after: Option<(StreamNumber, String)>,
    most: usize,
) -> Result<Vec<OutboxRow>, StoreError> {
    let statement = format!(
        "SELECT stream, value FROM {}.rows WHERE kind = $1 AND (stream, key) > ($2, $3) ORDER BY stream, key LIMIT $4",
        session.schema
    );
    let after = after.map(|(stream, key)| RowPlace::of(&RowKey::Outbox(stream, key)));
    let (stream, key) = match after {
        Some(place) => (count(place.stream.0), place.key),
        // Before all streams.
        None => (-1, Vec::new()),
    };
    let (kind, most) = (Kind::Outbox.code(), limit(most));
    let arguments: [Argument<'_>; 4] = [
        (&kind, Type::INT2),
        (&stream, Type::INT8),
        (&key, Type::BYTEA),
        (&most, Type::INT8),
    ];
    let lines = session.reads.read(&statement, &arguments).await;
    let lines = lines.map_err(CallError::into_error)?;
    let mut rows = Vec::with_capacity(lines.len());
    for line in &lines {
        let read =
            || -> Result<_, tokio_postgres::Error> { Ok((line.try_get(0)?, line.try_get(1)?)) };
        let (stream, value): (i64, &[u8]) = read().map_err(|e| failure::unavailable(&e))?;
        let effect = decode_effect(StreamNumber(uncount(stream)), value);
        rows.push(effect.map_err(|error| failure::of_value("an effect", error))?);
    }
    Ok(rows)
}

/// Decodes lines and leaves out damaged ones, so that one damaged run does not block the others.
pub(crate) fn sound<T>(
    of: &str,
    lines: &[Line],
    read: impl Fn(&Line) -> Result<T, Unusable>,
) -> Result<Vec<T>, StoreError> {
    let mut found = Vec::with_capacity(lines.len());
    for line in lines {
        match read(line) {
            Ok(row) => found.push(row),
            Err(unusable @ Unusable::Damaged(_)) => {
                failure::left_out(of, &unusable_error(of, unusable))
            }
            Err(Unusable::CallError(call_error)) => return Err(call_error.into_error()),
        }
    }
    Ok(found)
}
