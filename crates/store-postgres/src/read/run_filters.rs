//! The filters of a list as arguments of a statement, and the index scans that pages and counts
//! share.
//!
//! Filters by workflow and status scan the index of exactly those, once per combination; a tag
//! scans the index of tags; otherwise all runs are scanned, or the blocks with runs of that time.
//! Beginnings of ids have no index.

use everstep_model::RunStatus;
use everstep_store::ListQuery;

use crate::connection::argument::{Argument, arguments};
use crate::number::{count, millis};

/// The condition on the id of a row `r` of `runs`.
const IS_OF_PREFIX: &str = "EXISTS (SELECT FROM unnest($8) prefix WHERE starts_with(r.id, prefix))";

/// The arguments of every statement over runs, in this order.
pub(crate) struct RunFilters<'q> {
    query: &'q ListQuery,
    /// `$1`: only runs before this stream.
    end: i64,
    /// `$2`: at most this many.
    most: i64,
    /// `$3` and `$4`.
    created: (i64, i64),
    /// `$5`.
    workflows: Vec<&'q str>,
    /// `$6`.
    statuses: Vec<i16>,
    /// `$7`.
    tag: Option<&'q [u8]>,
    /// `$8`.
    id_prefixes: Vec<&'q str>,
}

impl<'q> RunFilters<'q> {
    /// The filters of a query without its cursor and limit.
    pub(crate) fn of(query: &'q ListQuery, most: i64) -> Self {
        Self {
            query,
            end: i64::MAX,
            most,
            created: (
                query.created_from.map_or(0, millis),
                query.created_before.map_or(i64::MAX, millis),
            ),
            workflows: query.workflows.iter().map(|name| name.as_str()).collect(),
            statuses: query.statuses.iter().copied().map(code).collect(),
            tag: query.tag.as_ref().map(String::as_bytes),
            id_prefixes: query.id_prefixes.iter().map(String::as_str).collect(),
        }
    }

    /// Restricts the runs to those after the query's cursor.
    pub(crate) fn after_cursor(mut self) -> Self {
        self.end = self.query.cursor.map_or(i64::MAX, |at| count(at.0.0));
        self
    }

    pub(crate) fn arguments(&self) -> [Argument<'_>; 8] {
        arguments![
            self.end,
            self.most,
            self.created.0,
            self.created.1,
            self.workflows,
            self.statuses,
            self.tag,
            self.id_prefixes
        ]
    }

    /// The condition on a row `r` of `runs`, except for the tag.
    pub(crate) fn condition(&self) -> String {
        let mut condition = self.condition_without_ids();
        if !self.id_prefixes.is_empty() {
            condition.push_str(" AND ");
            condition.push_str(IS_OF_PREFIX);
        }
        condition
    }

    fn condition_without_ids(&self) -> String {
        let mut condition = "r.listed AND r.created_at >= $3 AND r.created_at < $4".to_owned();
        if !self.workflows.is_empty() {
            condition.push_str(" AND r.workflow = ANY ($5)");
        }
        if !self.statuses.is_empty() {
            condition.push_str(" AND r.status = ANY ($6)");
        }
        condition
    }

    /// Selects columns of the newest `$2` matching rows `r` of `runs`, in their order.
    pub(crate) fn newest(&self, schema: &str, columns: &str) -> String {
        self.scan(schema, columns, &self.condition(), "ORDER BY r.stream DESC")
    }

    /// Compares the ids of the newest `$2` rows that pass the other filters. Selects the newest
    /// `most` matching ones, and the last of those that were compared, with their numbers from 1.
    pub(crate) fn newest_compared(&self, schema: &str, columns: &str, most: i64) -> String {
        let order = "ORDER BY r.stream DESC";
        let compared = self.scan(schema, columns, &self.condition_without_ids(), order);
        format!(
            "SELECT r.* FROM (SELECT r.*, row_number() OVER ({order}) AS nth FROM ({compared}) r) r
            WHERE r.nth = $2 OR {IS_OF_PREFIX} {order} LIMIT {most}"
        )
    }

    /// Selects up to `$2` rows in any order that contain all matching ones unless there are more:
    /// those that the index finds. [`RunFilters::condition`] selects the matching ones among them.
    pub(crate) fn candidates(&self, schema: &str) -> String {
        // The index of tags also contains superseded runs.
        let condition = if self.tag.is_some() {
            "true"
        } else {
            "r.listed"
        };
        let columns = "r.listed, r.created_at, r.workflow, r.status, r.id";
        self.scan(schema, columns, condition, "")
    }

    fn scan(&self, schema: &str, columns: &str, condition: &str, order: &str) -> String {
        if self.tag.is_some() {
            return format!(
                "SELECT {columns} FROM {schema}.tags t JOIN {schema}.runs r ON r.stream = t.stream
                WHERE t.tag = {schema}.tag_key($7) AND t.stream < $1 AND r.stream < $1 AND {condition}
                ORDER BY t.stream DESC LIMIT $2"
            );
        }
        if self.workflows.is_empty() && self.statuses.is_empty() {
            return format!(
                "SELECT {columns} FROM {schema}.runs r WHERE r.stream < $1 AND {condition} {order} LIMIT $2"
            );
        }
        let (workflows, statuses) = (self.each_workflow(schema), self.each_status());
        format!(
            "SELECT r.* FROM ({workflows}) w CROSS JOIN ({statuses}) st CROSS JOIN LATERAL (
                SELECT {columns} FROM {schema}.runs r WHERE r.workflow = w.workflow AND r.status = st.status
                AND r.stream < $1 AND {condition} ORDER BY r.stream DESC LIMIT $2
            ) r {order} LIMIT $2"
        )
    }

    fn each_workflow(&self, schema: &str) -> String {
        if !self.workflows.is_empty() {
            return "SELECT DISTINCT unnest($5) COLLATE \"C\" AS workflow".to_owned();
        }
        // Reads one entry of the index per workflow, and skips the other runs.
        format!(
            "SELECT k.workflow FROM (
                WITH RECURSIVE known AS (
                    (SELECT workflow FROM {schema}.runs WHERE listed ORDER BY workflow LIMIT 1)
                    UNION ALL SELECT (SELECT n.workflow FROM {schema}.runs n WHERE n.listed AND n.workflow > known.workflow
                        ORDER BY n.workflow LIMIT 1) FROM known WHERE known.workflow IS NOT NULL
                ) SELECT workflow FROM known WHERE workflow IS NOT NULL
            ) k"
        )
    }

    fn each_status(&self) -> String {
        if !self.statuses.is_empty() {
            return "SELECT DISTINCT unnest($6) AS status".to_owned();
        }
        let codes: Vec<i16> = RunStatus::ALL.iter().copied().map(code).collect();
        format!("SELECT unnest(ARRAY{codes:?}::int2[]) AS status")
    }
}

fn code(status: RunStatus) -> i16 {
    status.code().into()
}
