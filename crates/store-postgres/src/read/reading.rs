//! Reading: heads, records, and single rows. Each is one statement, so it sees one moment.

use bytes::Bytes;
use everstep_model::{Interner, RecordNumber};
use everstep_store::{Head, Page, ReadRequest, Row, RowKey, StoreError, StreamRef};
use tokio_postgres::types::Type;

use crate::connection::argument::Argument;
use crate::failure::{self, CallError};
use crate::number::{count, limit, uncount};
use crate::schema::frames::{Gaps, StoredFrames};
use crate::schema::head::{self, HEAD, RUN, Unusable};
use crate::schema::row_place::{self, RowPlace};
use crate::session::Session;

pub(crate) async fn head(session: &Session, stream: StreamRef) -> Result<Option<Head>, StoreError> {
    let (condition, argument): (&str, Argument<'_>) = match &stream {
        StreamRef::Number(number) => ("s.number = $1", (&count(number.0), Type::INT8)),
        StreamRef::Name(name) => ("s.name = $1", (&name.as_str().as_bytes(), Type::BYTEA)),
    };
    let schema = &session.schema;
    let statement = format!(
        "SELECT {HEAD}, {RUN} FROM {schema}.streams s LEFT JOIN {schema}.runs r ON r.stream = s.number WHERE {condition}"
    );
    let lines = session.reads.read(&statement, &[argument]).await;
    let lines = lines.map_err(CallError::into_error)?;
    let found = lines.first().map(head::head).transpose();
    found.map_err(|unusable| unusable_error("the head of a stream", unusable))
}

/// What is said of a line that cannot be used.
pub(crate) fn unusable_error(what: &str, unusable: Unusable) -> StoreError {
    match unusable {
        Unusable::CallError(call_error) => call_error.into_error(),
        Unusable::Damaged(damaged) => failure::of_value(what, damaged.into()),
    }
}

pub(crate) async fn read(
    session: &Session,
    request: ReadRequest,
) -> Result<Option<Page>, StoreError> {
    let schema = &session.schema;
    // The frame that begins at or before the first record wanted, and those behind it, as far as
    // they fit. The last ones are the tail.
    let statement = format!(
        "SELECT s.next, s.closed,
            ARRAY(SELECT lower(gap) FROM unnest(s.gaps) gap), ARRAY(SELECT upper(gap) FROM unnest(s.gaps) gap),
            f.first, f.bytes
        FROM {schema}.streams s LEFT JOIN LATERAL (
            SELECT n.first, n.bytes FROM (
                SELECT w.first, w.bytes, sum(octet_length(w.bytes)) OVER (ORDER BY w.first) - octet_length(w.bytes) AS before
                FROM (
                    (SELECT o.first, o.bytes FROM {schema}.frames o
                    WHERE o.stream = $1 AND o.first + o.count > $2 AND o.first >= coalesce(
                        (SELECT max(b.first) FROM {schema}.frames b WHERE b.stream = $1 AND b.first <= $2), $2)
                    ORDER BY o.first LIMIT $3)
                    UNION ALL SELECT s.tail_first, s.tail WHERE s.tail <> '' AND NOT s.framed AND s.next > $2
                    ORDER BY first LIMIT $3
                ) w
            ) n WHERE n.before < $4
        ) f ON true WHERE s.number = $1 ORDER BY f.first"
    );
    let stream = count(request.stream.0);
    let from = count(request.from.0);
    let (records, bytes) = (limit(request.limit), limit(request.bytes.max(1)));
    let arguments: [Argument<'_>; 4] = [
        (&stream, Type::INT8),
        (&from, Type::INT8),
        (&records, Type::INT8),
        (&bytes, Type::INT8),
    ];
    let lines = session.reads.read(&statement, &arguments).await;
    let lines = lines.map_err(CallError::into_error)?;
    page(request, &lines)
}

fn page(request: ReadRequest, lines: &[tokio_postgres::Row]) -> Result<Option<Page>, StoreError> {
    let Some(first) = lines.first() else {
        return Ok(None);
    };
    let unreadable = |error: tokio_postgres::Error| failure::unavailable(&error);
    let mut page = Page {
        entries: Vec::new(),
        end: RecordNumber(uncount(first.try_get(0).map_err(unreadable)?)),
        closed: first.try_get(1).map_err(unreadable)?,
    };
    let lowers: Vec<i64> = first.try_get(2).map_err(unreadable)?;
    let uppers: Vec<i64> = first.try_get(3).map_err(unreadable)?;
    let gaps = Gaps::of(&lowers, &uppers);
    let mut interner = Interner::default();
    for line in lines {
        let first: Option<i64> = line.try_get(4).map_err(unreadable)?;
        let bytes: Option<&[u8]> = line.try_get(5).map_err(unreadable)?;
        let Some((first, bytes)) = first.zip(bytes) else {
            continue;
        };
        let frames = StoredFrames {
            first: RecordNumber(uncount(first)),
            bytes: Bytes::copy_from_slice(bytes),
        };
        frames
            .entries(request.from, page.end, &mut interner, &mut page.entries)
            .map_err(|error| failure::of_frame(request.stream, &error))?;
        gaps.leave_out(&mut page.entries);
        if page.entries.len() >= request.limit {
            break;
        }
    }
    Ok(Some(page))
}

pub(crate) async fn row(session: &Session, key: RowKey) -> Result<Option<Row>, StoreError> {
    let statement = format!(
        "SELECT value, place FROM {}.rows WHERE kind = $1 AND stream = $2 AND key = $3",
        session.schema
    );
    let place = RowPlace::of(&key);
    let (kind, stream) = (place.kind.code(), count(place.stream.0));
    let arguments: [Argument<'_>; 3] = [
        (&kind, Type::INT2),
        (&stream, Type::INT8),
        (&place.key, Type::BYTEA),
    ];
    let lines = session.reads.read(&statement, &arguments).await;
    let lines = lines.map_err(CallError::into_error)?;
    let Some(line) = lines.first() else {
        return Ok(None);
    };
    let unreadable = |error: tokio_postgres::Error| failure::unavailable(&error);
    let value: &[u8] = line.try_get(0).map_err(unreadable)?;
    let place: Option<i64> = line.try_get(1).map_err(unreadable)?;
    let row = row_place::row(&key, value, place);
    row.map(Some)
        .map_err(|error| failure::of_value("a row", error))
}
