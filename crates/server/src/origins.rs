//! The web origins that CORS allows, and the check of `Host` and `Origin` in development mode. The
//! check prevents web pages from reaching the server through DNS rebinding.

use std::net::{IpAddr, Ipv6Addr};

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

/// Returns whether a request addresses this machine and does not come from a page of another
/// origin.
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
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(address, rest)| {
            let address: Result<Ipv6Addr, _> = address.parse();
            let is_complete = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
            is_complete && address.is_ok_and(|address| address.is_loopback())
        });
    }
    match host.split_once(':') {
        Some((name, port)) => is_port(port) && is_loopback_host(name),
        None => is_loopback_host(host),
    }
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
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
            "[::1]",
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
            "[::1].evil.example",
            "[::1]80",
            "[::1",
            "[localhost]",
            "::1",
            "localhost:evil.example",
            "localhost:80:80",
            "localhost:65536",
            "localhost:+80",
            "localhost:",
            "user@localhost",
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
