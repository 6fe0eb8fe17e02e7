//! Heads, pages of records and single rows. The statement that reads one is consistent.

use bytes::Bytes;
use everstep_model::{Interner, RecordNumber};
use everstep_store::{Head, Page, ReadRequest, Row, RowKey, StreamRef};
use tokio_postgres::Row as Line;
use tokio_postgres::types::Type;

use crate::connection::argument::{Argument, arguments};
use crate::failure::{CallError, unreadable_frame};
use crate::number::{count, limit, uncount};
use crate::schema::frames::{Gaps, StoredFrames};
use crate::schema::head::{self, HEAD, RUN};
use crate::schema::rows::{self, StoredKey};
use crate::session::Session;

pub(crate) async fn head(session: &Session, stream: StreamRef) -> Result<Option<Head>, CallError> {
    let (condition, argument): (&str, Argument<'_>) = match &stream {
        StreamRef::Number(number) => ("s.number = $1", (&count(number.0), Type::INT8)),
        StreamRef::Name(name) => ("s.name = $1", (&name.as_str().as_bytes(), Type::BYTEA)),
    };
    let schema = &session.schema;
    let statement = format!(
        "SELECT {HEAD}, {RUN} FROM {schema}.streams s LEFT JOIN {schema}.runs r ON r.stream = s.number WHERE {condition}"
    );
    let lines = session.reads.read(&statement, &[argument]).await?;
    lines.first().map(head::head).transpose()
}

pub(crate) async fn read(
    session: &Session,
    mut request: ReadRequest,
) -> Result<Option<Page>, CallError> {
    loop {
        let lines = lines(session, request).await?;
        let Some((page, gaps)) = page(request, &lines)? else {
            return Ok(None);
        };
        // All bytes of the page may be those of a frame whose remaining records were dropped.
        match gaps.end_of(request.from) {
            Some(end) if page.entries.is_empty() && request.limit > 0 => request.from = end,
            _ => return Ok(Some(page)),
        }
    }
}

async fn lines(session: &Session, request: ReadRequest) -> Result<Vec<Line>, CallError> {
    let schema = &session.schema;
    // The frame that contains the first requested record, and those after it, up to the limits. The
    // last ones are the tail.
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
    let (records, bytes) = (limit(request.limit), limit(request.bytes.max(1)));
    let (stream, from) = (count(request.stream.0), count(request.from.0));
    let arguments = arguments![stream, from, records, bytes];
    session.reads.read(&statement, &arguments).await
}

/// Returns the page with the gaps of the stream.
fn page(request: ReadRequest, lines: &[Line]) -> Result<Option<(Page, Gaps)>, CallError> {
    let Some(first) = lines.first() else {
        return Ok(None);
    };
    let mut page = Page {
        entries: Vec::new(),
        end: RecordNumber(uncount(first.try_get(0)?)),
        closed: first.try_get(1)?,
    };
    let gaps = Gaps::of(first.try_get(2)?, first.try_get(3)?);
    let mut interner = Interner::default();
    for line in lines {
        let (first, bytes): (Option<i64>, Option<&[u8]>) = (line.try_get(4)?, line.try_get(5)?);
        let Some((first, bytes)) = first.zip(bytes) else {
            continue;
        };
        let frames = StoredFrames {
            first: RecordNumber(uncount(first)),
            bytes: Bytes::copy_from_slice(bytes),
        };
        frames
            .entries(request.from, page.end, &mut interner, &mut page.entries)
            .map_err(|error| unreadable_frame(request.stream, &error))?;
        gaps.leave_out(&mut page.entries);
        if page.entries.len() >= request.limit {
            break;
        }
    }
    Ok(Some((page, gaps)))
}

pub(crate) async fn row(session: &Session, key: RowKey) -> Result<Option<Row>, CallError> {
    let statement = format!(
        "SELECT value, place FROM {}.rows WHERE kind = $1 AND stream = $2 AND key = $3",
        session.schema
    );
    let stored = StoredKey::of(&key);
    let (kind, stream) = (stored.kind.code(), count(stored.stream.0));
    let arguments = arguments![kind, stream, stored.key];
    let lines = session.reads.read(&statement, &arguments).await?;
    let Some(line) = lines.first() else {
        return Ok(None);
    };
    let row = rows::decode(&key, line.try_get(0)?, line.try_get(1)?)?;
    Ok(Some(row))
}
