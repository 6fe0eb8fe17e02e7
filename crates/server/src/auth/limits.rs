//! What a caller may reach: runs by workflow and by the beginning of their ids, and streams by the
//! beginning of their paths. All checks of limits use this type.
//!
//! A caller without limits reaches everything. A caller with limits reaches only what they name: no
//! runs if they name neither workflows nor ids, and no streams if they name no paths.

use std::collections::BTreeSet;

use everstep_engine::streams::StreamPath;
use everstep_model::{Name, RunId};
use everstep_store::ListQuery;

/// The limits of a caller. By default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The workflows of the runs. Empty: any workflow, if `runs` is not empty.
    pub workflows: BTreeSet<String>,
    /// How the ids of the runs begin. Empty: any id, if `workflows` is not empty.
    pub runs: BTreeSet<String>,
    /// How the paths of the streams begin.
    pub streams: BTreeSet<String>,
}

impl Limits {
    /// Returns no limits.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            workflows: BTreeSet::new(),
            runs: BTreeSet::new(),
            streams: BTreeSet::new(),
        }
    }

    /// Returns whether there are no limits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.workflows.is_empty() && self.runs.is_empty() && self.streams.is_empty()
    }

    /// Returns whether no run is reached.
    fn excludes_runs(&self) -> bool {
        self.workflows.is_empty() && self.runs.is_empty() && !self.streams.is_empty()
    }

    /// Returns whether runs of a workflow may be reached. Their ids must be, too.
    #[must_use]
    pub fn reaches_workflow(&self, workflow: &str) -> bool {
        !self.excludes_runs() && (self.workflows.is_empty() || self.workflows.contains(workflow))
    }

    /// Returns whether a run with this id may be reached. Its workflow must be, too.
    #[must_use]
    pub fn reaches_id(&self, id: &str) -> bool {
        !self.excludes_runs() && (self.runs.is_empty() || begins_with_one(id, &self.runs))
    }

    /// Returns whether a stream is reached. Limits reach only streams of users: feeds and journals
    /// contain what other limits exclude.
    #[must_use]
    pub fn reaches_stream(&self, path: &str) -> bool {
        self.is_empty() || (!StreamPath::is_reserved(path) && begins_with_one(path, &self.streams))
    }

    /// Returns whether all streams whose paths match a pattern of a subscription are reached: the
    /// pattern's text before the first `*` decides.
    #[must_use]
    pub fn reaches_pattern(&self, pattern: &str) -> bool {
        let (fixed, _) = pattern.split_once('*').unwrap_or((pattern, ""));
        self.reaches_stream(fixed)
    }

    /// Restricts a list of runs to those that are reached. `None` if it would be empty.
    #[must_use]
    pub fn restrict(&self, mut query: ListQuery) -> Option<ListQuery> {
        if self.excludes_runs() {
            return None;
        }
        if !self.workflows.is_empty() {
            match query.workflows.is_empty() {
                true => query.workflows = self.names(),
                false => query
                    .workflows
                    .retain(|name| self.workflows.contains(name.as_str())),
            }
            if query.workflows.is_empty() {
                return None;
            }
        }
        query.id_prefixes = self.runs.iter().cloned().collect();
        Some(query)
    }

    /// Returns how the id of a new run begins if its starter names none.
    pub(crate) fn id_prefix(&self) -> Option<&str> {
        self.runs.first().map(String::as_str)
    }

    /// Returns the first limit that is not valid, with a rule.
    pub(super) fn invalid(&self) -> Option<&'static str> {
        let is_name = |name: &String| Name::new(name).is_ok();
        if !self.workflows.iter().all(is_name) {
            return Some("one of the workflows is not a valid name");
        }
        if !self.runs.iter().all(|prefix| RunId::new(prefix).is_ok()) {
            return Some("`runs` contains a prefix that no run ID can have");
        }
        // A path does not end with a slash, but its beginning may.
        let is_path = |prefix: &String| {
            let is_of_users = !StreamPath::is_reserved(prefix);
            !prefix.is_empty() && is_of_users && StreamPath::new(&format!("{prefix}x")).is_ok()
        };
        match self.streams.iter().all(is_path) {
            true => None,
            false => Some("`streams` contains a prefix that no stream of a user can have"),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.workflows.len() + self.runs.len() + self.streams.len()
    }

    fn names(&self) -> Vec<Name> {
        let names = self.workflows.iter();
        names.filter_map(|name| Name::new(name).ok()).collect()
    }
}

fn begins_with_one(text: &str, prefixes: &BTreeSet<String>) -> bool {
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn limits(workflows: &[&str], runs: &[&str], streams: &[&str]) -> Limits {
        Limits {
            workflows: set(workflows),
            runs: set(runs),
            streams: set(streams),
        }
    }

    #[test]
    fn limits_reach_only_what_they_name() {
        for (limits, workflow, id, stream) in [
            (limits(&[], &[], &[]), true, true, true),
            (limits(&["pay"], &[], &[]), true, true, false),
            (limits(&["ship"], &[], &[]), false, true, false),
            (limits(&[], &["acme-"], &[]), true, true, false),
            (limits(&[], &["other-"], &[]), true, false, false),
            (limits(&[], &[], &["acme/"]), false, false, true),
            (limits(&[], &[], &["other/"]), false, false, false),
            (
                limits(&["pay"], &["acme-"], &["other/", "acme/"]),
                true,
                true,
                true,
            ),
        ] {
            assert_eq!(limits.reaches_workflow("pay"), workflow, "{limits:?}");
            assert_eq!(limits.reaches_id("acme-1"), id, "{limits:?}");
            assert_eq!(limits.reaches_stream("acme/chat"), stream, "{limits:?}");
        }
    }

    #[test]
    fn a_pattern_is_reached_if_its_fixed_beginning_is() {
        let limits = limits(&[], &[], &["acme/"]);
        for (pattern, is_reached) in [
            ("acme/*", true),
            ("acme/a/**", true),
            ("acme/a", true),
            ("acme*", false),
            ("**", false),
            ("*/acme/a", false),
            ("workflows/**", false),
        ] {
            assert_eq!(limits.reaches_pattern(pattern), is_reached, "{pattern}");
        }
    }

    // B842
    #[test]
    fn the_beginning_of_a_reserved_path_reaches_no_feed_and_no_journal() {
        for prefix in ["_", "__", "__d", "w", "workflow"] {
            let limits = limits(&[], &[], &[prefix]);
            for path in [
                "__ds/feeds/records",
                "workflows/order-7",
                "__ds",
                "workflows",
            ] {
                assert!(!limits.reaches_stream(path), "{prefix} {path}");
            }
            for pattern in ["__ds/**", "__ds/feeds/*", "workflows/**"] {
                assert!(!limits.reaches_pattern(pattern), "{prefix} {pattern}");
            }
            assert!(limits.reaches_stream(&format!("{prefix}x/a")), "{prefix}");
        }
        for prefix in ["__ds", "workflows"] {
            assert!(limits(&[], &[], &[prefix]).invalid().is_some(), "{prefix}");
        }
    }

    #[test]
    fn a_list_is_restricted_to_what_is_reached() {
        let name = |text: &str| Name::new(text).unwrap();
        let of = |workflows: &[&str]| ListQuery {
            workflows: workflows.iter().map(|&text| name(text)).collect(),
            ..ListQuery::default()
        };
        let tenant = limits(&["pay", "ship"], &["acme-"], &[]);
        let all = tenant.restrict(of(&[])).unwrap();
        assert_eq!(all.workflows, [name("pay"), name("ship")]);
        assert_eq!(all.id_prefixes, ["acme-"]);
        let some = tenant.restrict(of(&["order", "ship"])).unwrap();
        assert_eq!(some.workflows, [name("ship")]);
        assert_eq!(tenant.restrict(of(&["order"])), None);
        assert_eq!(limits(&[], &[], &["a"]).restrict(of(&[])), None);
        let unlimited = Limits::default();
        assert_eq!(unlimited.restrict(of(&["order"])), Some(of(&["order"])));
    }

    #[test]
    fn invalid_beginnings_are_rejected() {
        for valid in [
            limits(&["pay"], &["acme-"], &["acme/", "b", "c/d"]),
            Limits::default(),
        ] {
            assert_eq!(valid.invalid(), None, "{valid:?}");
        }
        for wrong in [
            limits(&["\n"], &[], &[]),
            limits(&[], &[""], &[]),
            limits(&[], &["a/b"], &[]),
            limits(&[], &[], &[""]),
            limits(&[], &[], &["/a"]),
            limits(&[], &[], &["workflows/"]),
            limits(&[], &[], &["a//"]),
        ] {
            assert!(wrong.invalid().is_some(), "{wrong:?}");
        }
    }
}
