//! The streams that patterns have linked: one shared row for each, so that linking one costs the
//! same with any number of links. Links to streams that a subscription names are in its document.

use everstep_engine::streams::{Document, StreamError, Streams};
use everstep_store::{
    CommitTime, Guard, KeyPart, Row, RowChanges, RowKey, RowRange, SharedKey, SharedKind,
    SharedRow, StoreError,
};

use super::state::{Link, LinkType, Subscription};

/// The number of rows read at once.
const PAGE: usize = 1_000;

pub(super) type Rows = (RowChanges, Vec<Guard>);

/// Reads and writes the rows of links.
pub(super) struct Links {
    pub(super) streams: Streams,
}

impl Links {
    pub(super) async fn get(&self, of: &Document, path: &str) -> Result<Option<Link>, StreamError> {
        let row = self.streams.shared_row(key(of, path)?).await?;
        row.map(|row| link(&row)).transpose()
    }

    /// Adds a link. Does nothing if the link exists, or the subscription was removed.
    pub(super) async fn add(
        &self,
        of: &Document,
        path: &str,
        link: &Link,
    ) -> Result<(), StreamError> {
        let mut rows = Rows::default();
        put(&mut rows, of, path, None, link)?;
        self.streams.change_rows(of, rows).await.map(drop)
    }

    pub(super) async fn remove(&self, of: &Document, path: &str) -> Result<(), StreamError> {
        let mut rows = Rows::default();
        rows.0.delete.push(RowKey::Shared(key(of, path)?));
        self.streams.change_rows(of, rows).await.map(drop)
    }

    /// Removes the links of a subscription that is about to be removed.
    pub(super) async fn remove_all(&self, of: &Document) -> Result<(), StreamError> {
        loop {
            let page = self.page(of, None, PAGE).await?;
            if page.is_empty() {
                return Ok(());
            }
            let mut rows = Rows::default();
            for (path, _) in &page {
                rows.0.delete.push(RowKey::Shared(key(of, path)?));
            }
            self.streams.change_rows(of, rows).await?;
        }
    }

    /// Returns links in the order of their paths, after a path.
    pub(super) async fn page(
        &self,
        of: &Document,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Link)>, StreamError> {
        let range = RowRange {
            kind: SharedKind::Link,
            prefix: vec![of.stream.0.into()],
            after: after.map(|path| key(of, path)).transpose()?,
            limit: limit.min(PAGE),
            reverse: false,
        };
        let rows = self.streams.shared_rows(range).await?;
        let links = rows.iter().filter_map(|row| match row.key.parts() {
            [_, KeyPart::Text(path)] => Some(link(row).map(|link| (path.clone(), link))),
            _ => None,
        });
        links.collect()
    }
}

/// Returns the changes of rows that make the links of a pattern those of `after`.
pub(super) fn changes(
    of: &Document,
    before: &Subscription,
    after: &Subscription,
) -> Result<Rows, StreamError> {
    let mut rows = Rows::default();
    let is_row = |link: &Link| link.link_type == LinkType::Glob;
    for (path, link) in after.links.iter().filter(|(_, link)| is_row(link)) {
        let known = before.links.get(path).filter(|known| is_row(known));
        if known != Some(link) {
            put(&mut rows, of, path, known, link)?;
        }
    }
    for (path, known) in before.links.iter().filter(|(_, link)| is_row(link)) {
        if !after.links.get(path).is_some_and(is_row) {
            let row = row(of, path, known)?;
            rows.0.delete.push(RowKey::Shared(row.key));
        }
    }
    Ok(rows)
}

/// Puts the row of a link, on condition that the stored one is as it was read.
fn put(
    (rows, guards): &mut Rows,
    of: &Document,
    path: &str,
    known: Option<&Link>,
    link: &Link,
) -> Result<(), StreamError> {
    guards.push(match known {
        Some(known) => Guard::RowIs(Row::Shared(row(of, path, known)?)),
        None => Guard::RowAbsent(RowKey::Shared(key(of, path)?)),
    });
    rows.put.push(Row::Shared(row(of, path, link)?));
    Ok(())
}

fn key(of: &Document, path: &str) -> Result<SharedKey, StreamError> {
    let parts = [of.stream.0.into(), path.into()];
    let key = SharedKey::new(SharedKind::Link, parts);
    key.map_err(|error| StoreError::corrupt(path, error.to_string()).into())
}

fn row(of: &Document, path: &str, link: &Link) -> Result<SharedRow, StreamError> {
    let value = serde_json::to_vec(link);
    Ok(SharedRow {
        key: key(of, path)?,
        value: value.map_err(|error| StoreError::corrupt(path, error.to_string()))?,
        committed_at: CommitTime::Absent,
    })
}

fn link(row: &SharedRow) -> Result<Link, StreamError> {
    let link = serde_json::from_slice(&row.value);
    link.map_err(|error| StoreError::corrupt("a link", error.to_string()).into())
}
