//! Which runs a command is about: by workflow, status, tag and time.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::Filter;

/// A filter, as flags.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Only runs of this workflow; several with commas between them.
    #[arg(long = "type", value_name = "WORKFLOW", value_delimiter = ',')]
    workflows: Vec<String>,
    /// Only runs that are this; several with commas between them.
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',')]
    statuses: Vec<String>,
    /// Only runs with this tag.
    #[arg(long)]
    tag: Option<String>,
    /// Only runs created at or after this time, such as 2026-11-15T08:00:00Z.
    #[arg(long, value_name = "TIME")]
    created_from: Option<String>,
    /// Only runs created before this time.
    #[arg(long, value_name = "TIME")]
    created_before: Option<String>,
}

impl Selection {
    /// Whether it selects nothing in particular.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter() == Filter::default()
    }

    pub(crate) fn filter(&self) -> Filter {
        Filter {
            workflows: self.workflows.clone(),
            statuses: self.statuses.clone(),
            tag: self.tag.clone(),
            created_from: self.created_from.clone(),
            created_before: self.created_before.clone(),
        }
    }

    /// The address of the list of these runs.
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
        let query: Vec<String> = query
            .into_iter()
            .map(|(name, value)| format!("{name}={}", segment(&value)))
            .collect();
        format!("workflows?{}", query.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_written_as_a_query() {
        let selection = Selection {
            workflows: vec!["pay".to_owned()],
            statuses: vec!["failed".to_owned(), "cancelled".to_owned()],
            tag: Some("a&b".to_owned()),
            ..Selection::default()
        };
        let expected =
            "workflows?limit=5&type=pay&status=failed&status=cancelled&tag=a%26b&cursor=x%3D";
        assert_eq!(selection.path(5, Some("x=")), expected);
        assert!(!selection.is_empty() && Selection::default().is_empty());
    }
}
