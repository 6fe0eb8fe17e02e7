//! Which servers get the API key: not one that a file in the current directory names, and none over
//! a connection that others can read.

use std::net::IpAddr;

use http::Uri;

use super::{Config, Origin};
use crate::usage_error::UsageError;

/// Checks that the key may be sent to the configured server.
pub(crate) fn check(config: &Config) -> Result<(), UsageError> {
    let (Some((_, key)), Some((server, origin))) = (
        config.value_and_origin("key"),
        config.value_and_origin("server"),
    ) else {
        return Ok(());
    };
    let url = server.to_string_lossy();
    // Otherwise the author of the file could collect the keys of users who enter the directory.
    if matches!(origin, Origin::FileFound(_)) && key != origin {
        return Err(UsageError::new(
            format!("the key of {key} is not sent to {url}, which {origin} names"),
            format!(
                "If this is your server, name it yourself: EVERSTEP_SERVER={url}, or --server {url}."
            ),
        ));
    }
    if is_readable_by_others(&url) && !config.is_on("allow_http") {
        return Err(UsageError::new(
            format!("the key is not sent to {url}, because others can read plain http"),
            "Use https. If the network is trusted, allow it with EVERSTEP_ALLOW_HTTP=true.",
        ));
    }
    Ok(())
}

/// Returns whether requests to a URL leave this machine without encryption.
fn is_readable_by_others(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    };
    uri.scheme_str() == Some("http") && !is_loopback
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_beyond_this_machine_is_readable_by_others() {
        for (url, expected) in [
            ("http://localhost:4437", false),
            ("http://LOCALHOST", false),
            ("http://127.0.0.1:1", false),
            ("http://127.1.2.3", false),
            ("http://[::1]:4437", false),
            ("https://example.com", false),
            ("http://example.com", true),
            ("http://localhost.example.com", true),
            ("http://example.localhost", true),
            ("http://10.0.0.1:4437/everstep", true),
            ("http://[fe80::1]", true),
        ] {
            assert_eq!(is_readable_by_others(url), expected, "{url}");
        }
    }
}
