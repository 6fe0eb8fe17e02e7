//! A filter over runs: by workflow, status, tag and time of creation.

use clap::Args;
use everstep_protocol::client::segment;

#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunFilter {
    /// Filter by workflow; separate several with commas
    #[arg(long = "type", value_name = "WORKFLOW", value_delimiter = ',')]
    workflows: Vec<String>,
    /// Filter by status; separate several with commas
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',')]
    statuses: Vec<String>,
    /// Filter by tag
    #[arg(long)]
    tag: Option<String>,
    /// Only runs created at or after this time, such as 2026-11-15T08:00:00Z
    #[arg(long, value_name = "TIME")]
    created_from: Option<String>,
    /// Only runs created before this time
    #[arg(long, value_name = "TIME")]
    created_before: Option<String>,
}

impl RunFilter {
    /// Whether the filter accepts all runs.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the path of one page of matching runs.
    pub(crate) fn path(&self, limit: usize, cursor: Option<&str>) -> String {
        let mut query = vec![("limit", limit.to_string())];
        query.extend(self.workflows.iter().map(|name| ("type", name.clone())));
        query.extend(self.statuses.iter().map(|name| ("status", name.clone())));
        let single = [
            ("tag", self.tag.as_deref()),
            ("createdFrom", self.created_from.as_deref()),
            ("createdBefore", self.created_before.as_deref()),
            ("cursor", cursor),
        ];
        let single = single.into_iter();
        query.extend(single.filter_map(|(name, value)| Some((name, value?.to_owned()))));
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
            statuses: vec!["failed".to_owned(), "cancelled".to_owned()],
            tag: Some("a&b".to_owned()),
            ..RunFilter::default()
        };
        let expected =
            "workflows?limit=5&type=pay&status=failed&status=cancelled&tag=a%26b&cursor=x%3D";
        assert_eq!(filter.path(5, Some("x=")), expected);
        assert!(!filter.is_empty() && RunFilter::default().is_empty());
    }
}
