//! A filter over runs: by workflow, status, tag and time of creation.

use clap::Args;
use everstep_model::{RunStatus, Timestamp};
use everstep_protocol::client::segment;

use super::values;

#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunFilter {
    /// Filter by workflow; separate several with commas
    #[arg(long = "type", value_name = "WORKFLOW", value_delimiter = ',')]
    workflows: Vec<String>,
    /// Filter by status; separate several with commas. Aliases: created, pending (queued), complete
    /// (completed), errored (failed), compensating (rolling_back), compensation_failed
    /// (rollback_failed)
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',', value_parser = values::status)]
    statuses: Vec<RunStatus>,
    /// Filter by tag
    #[arg(long)]
    tag: Option<String>,
    /// Only runs created at or after this time: 2h (two hours ago), 2026-11-15 (local time), or
    /// 2026-11-15T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    created_from: Option<Timestamp>,
    /// Only runs created before this time
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    created_before: Option<Timestamp>,
}

impl RunFilter {
    pub(crate) fn of_statuses(statuses: impl IntoIterator<Item = RunStatus>) -> Self {
        Self {
            statuses: statuses.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Whether the filter accepts all runs.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the path of one page of matching runs.
    pub(crate) fn path(&self, limit: usize, cursor: Option<&str>) -> String {
        let mut query = vec![("limit", limit.to_string())];
        query.extend(self.workflows.iter().map(|name| ("type", name.clone())));
        query.extend(self.statuses.iter().map(|it| ("status", it.to_string())));
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let single = [
            ("tag", self.tag.clone()),
            ("createdFrom", time(self.created_from)),
            ("createdBefore", time(self.created_before)),
            ("cursor", cursor.map(str::to_owned)),
        ];
        let single = single.into_iter();
        query.extend(single.filter_map(|(name, value)| Some((name, value?))));
        let query = query
            .iter()
            .map(|(name, value)| format!("{name}={}", segment(value)));
        format!("workflows?{}", query.collect::<Vec<_>>().join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_becomes_a_query() {
        let filter = RunFilter {
            workflows: vec!["pay".to_owned()],
            statuses: vec![RunStatus::Failed, RunStatus::Cancelled],
            tag: Some("a&b".to_owned()),
            ..RunFilter::default()
        };
        let expected =
            "workflows?limit=5&type=pay&status=failed&status=cancelled&tag=a%26b&cursor=x%3D";
        assert_eq!(filter.path(5, Some("x=")), expected);
        assert!(!filter.is_empty() && RunFilter::default().is_empty());
    }
}
