//! The web origins that CORS allows, and the check of `Host` and `Origin` in development mode. The
//! check prevents web pages from reaching the server through DNS rebinding.

use std::net::IpAddr;

use axum::http::{HeaderMap, Uri, header};

/// The origins whose pages may read responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// No origin.
    #[default]
    None,
    /// Origins on this machine.
    Loopback,
    /// A list of origins, such as `https://app.example`.
    Listed(Vec<String>),
    /// All origins.
    All,
}

impl Origins {
    pub(crate) fn allows(&self, origin: &str) -> bool {
        match self {
            Self::None => false,
            Self::Loopback => is_loopback_origin(origin),
            Self::Listed(listed) => listed.iter().any(|known| known == origin),
            Self::All => true,
        }
    }
}

/// Returns whether a request addresses this machine and does not come from a page of another origin.
pub(crate) fn is_local_request(headers: &HeaderMap, uri: &Uri) -> bool {
    let named = headers.get(header::HOST).map(|host| host.to_str());
    let host = match (named, uri.authority()) {
        (Some(Ok(host)), _) => host,
        (None, Some(authority)) => authority.as_str(),
        (Some(Err(_)), _) | (None, None) => return false,
    };
    let origin = headers.get(header::ORIGIN);
    is_loopback(host) && origin.is_none_or(|origin| origin.to_str().is_ok_and(is_loopback_origin))
}

fn is_loopback_origin(origin: &str) -> bool {
    let rest = origin.strip_prefix("http://");
    let rest = rest.or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(is_loopback)
}

/// Returns whether a host, with or without a port, is `localhost` or a loopback address.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(is_loopback_host)
}

/// Returns whether a host, without port and brackets, is `localhost` or a loopback address.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    host.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_and_origins_are_recognised() {
        for host in [
            "localhost",
            "LOCALHOST:4437",
            "127.0.0.1:1",
            "127.8.8.8",
            "[::1]:80",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "10.0.0.1",
            "[::2]",
            "127.0.0.1.nip.io",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
        assert!(is_loopback_origin("http://localhost:3000"));
        for origin in [
            "null",
            "localhost",
            "https://example.com",
            "file://localhost",
        ] {
            assert!(!is_loopback_origin(origin), "{origin}");
        }
    }
}
