//! The two text formats of Prometheus: OpenMetrics 1.0, and the older format 0.0.4.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, header};

pub(super) const OPEN_METRICS: &str = "application/openmetrics-text";
pub(super) const PLAIN: &str = "text/plain";

/// A format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Plain,
}

impl Format {
    /// Returns the format that the `Accept` header prefers: OpenMetrics only if it is named,
    /// because every parser can read the other one.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(header::ACCEPT).iter();
        let accepted = accepted.filter_map(|value| value.to_str().ok());
        let accepted: Vec<(&str, f32)> = accepted.flat_map(media_ranges).collect();
        let quality = |media_type| {
            let named = accepted.iter().filter(|(named, _)| *named == media_type);
            named.map(|(_, quality)| *quality).fold(0.0, f32::max)
        };
        let open = quality(OPEN_METRICS);
        match open > 0.0 && open >= quality(PLAIN) {
            true => Self::OpenMetrics,
            false => Self::Plain,
        }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Parses an `Accept` header: media types in lower case, and their qualities.
fn media_ranges(header: &str) -> impl Iterator<Item = (&str, f32)> {
    header.split(',').map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q="));
        (
            media_type,
            quality.and_then(|text| text.parse().ok()).unwrap_or(1.0),
        )
    })
}

/// Converts OpenMetrics to the format 0.0.4, in which a counter is described by the name of its
/// sample, which ends in `_total`.
pub(super) fn to_plain(open_metrics: &str) -> String {
    let types = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "));
    let counters: BTreeSet<&str> = types
        .filter_map(|described| described.strip_suffix(" counter"))
        .collect();
    let mut plain = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let described = line
            .strip_prefix("# ")
            .and_then(|rest| rest.split_once(' '));
        match described {
            None if line == "# EOF" => continue,
            Some(("UNIT", _)) => continue,
            Some((keyword, rest)) => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let suffix = if counters.contains(name) {
                    "_total"
                } else {
                    ""
                };
                plain.extend(["# ", keyword, " ", name, suffix, " ", text]);
            }
            None => plain.push_str(line),
        }
        plain.push('\n');
    }
    plain
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    // B485
    #[test]
    fn the_accepted_format_with_the_higher_quality_is_chosen() {
        for (accept, expected) in [
            (
                "application/openmetrics-text;version=1.0.0",
                Format::OpenMetrics,
            ),
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
                Format::OpenMetrics,
            ),
            (
                "application/openmetrics-text;q=0.2, text/plain;q=0.3",
                Format::Plain,
            ),
            ("application/openmetrics-text;q=0", Format::Plain),
            ("text/plain", Format::Plain),
            ("*/*", Format::Plain),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(Format::of(&headers), expected, "{accept}");
        }
        assert_eq!(Format::of(&HeaderMap::new()), Format::Plain);
    }

    #[test]
    fn counters_are_described_by_the_name_of_their_samples() {
        let open = "# HELP a Things.\n# TYPE a counter\na_total 1\n\
            # HELP b_seconds Time.\n# TYPE b_seconds histogram\n# UNIT b_seconds seconds\n\
            b_seconds_sum 2\n# EOF\n";
        let plain = "# HELP a_total Things.\n# TYPE a_total counter\na_total 1\n\
            # HELP b_seconds Time.\n# TYPE b_seconds histogram\nb_seconds_sum 2\n";
        assert_eq!(to_plain(open), plain);
    }
}
