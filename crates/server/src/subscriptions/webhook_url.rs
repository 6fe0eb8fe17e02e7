//! Validation of webhook URLs. They must be public, so that they cannot make the server call into
//! its own network. Development servers also allow loopback addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::Uri;

use crate::origins::is_loopback_host;

/// A validated webhook URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    /// The path and query.
    pub(super) path: String,
    /// The value of the `Host` header.
    pub(super) authority: String,
}

/// Which hosts webhooks may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebhookTargets {
    /// Public hosts, by https.
    Public,
    /// Also this machine, by http or https. For development.
    PublicAndLoopback,
}

/// Validates a URL without resolving its host.
pub(super) fn check(url: &str, targets: WebhookTargets) -> Result<Target, &'static str> {
    let uri: Result<Uri, _> = url.parse();
    let uri = uri.map_err(|_| "the webhook's address is not a URL")?;
    let authority = uri.authority().ok_or("the webhook's URL has no host")?;
    if authority.as_str().contains('@') {
        return Err("a webhook's URL must not contain a password");
    }
    let host = authority.host().trim_matches(['[', ']']);
    let is_tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") if is_loopback_host(host) => false,
        _ => return Err("a webhook's URL must use https"),
    };
    if is_loopback_host(host) && targets == WebhookTargets::Public {
        return Err("a webhook's address must be public");
    }
    if let Ok(address) = host.parse()
        && !may_be_called(address, is_loopback_host(host))
    {
        return Err("a webhook's address must be public");
    }
    let default_port = if is_tls { 443 } else { 80 };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Ok(Target {
        host: host.to_owned(),
        port: authority.port_u16().unwrap_or(default_port),
        is_tls,
        path: path.to_owned(),
        authority: authority.as_str().to_owned(),
    })
}

/// Returns whether an address may be called for a host that is this machine or not.
pub(super) fn may_be_called(address: IpAddr, is_loopback_host: bool) -> bool {
    match address.to_canonical() {
        address if is_loopback_host => address.is_loopback(),
        IpAddr::V4(address) => is_public(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_special =
        (a == 192 && b == 0 && c == 0) || (a == 198 && (b == 18 || b == 19)) || a >= 240;
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || is_shared
        || is_special)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_global_unicast = first & 0xe000 == 0x2000;
    // Teredo and other protocols, documentation, and 6to4.
    let is_special = (first == 0x2001 && (second < 0x200 || second == 0xdb8))
        || (first == 0x3fff && second < 0x1000)
        || first == 0x2002;
    is_global_unicast && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_rejected() {
        for url in [
            "https://example.com/hook?x=1",
            "https://93.184.216.34:8443/",
            "http://localhost:3000/x",
            "http://127.0.0.1:99/",
            "https://[2606:2800:220:1::1]/",
        ] {
            assert!(
                check(url, WebhookTargets::PublicAndLoopback).is_ok(),
                "{url}"
            );
            let is_public = url.starts_with("https:");
            assert_eq!(
                check(url, WebhookTargets::Public).is_ok(),
                is_public,
                "{url}"
            );
        }
        for url in [
            "http://10.0.0.1/hook",
            "http://[::ffff:127.0.0.1]/",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest",
            "https://192.168.1.1/",
            "https://172.16.0.1/",
            "https://100.64.0.1/",
            "https://0.0.0.0/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://[fec0::1]/",
            "https://[2001::1]/",
            "https://[2001:db8::1]/",
            "https://[2002:a00:1::]/",
            "https://[3fff::1]/",
            "https://[100::1]/",
            "https://[5f00::1]/",
            "https://[64:ff9b::a00:1]/",
            "http://example.com/",
            "ftp://example.com/",
            "https://user:secret@example.com/",
            "/hook",
            "",
        ] {
            assert!(
                check(url, WebhookTargets::PublicAndLoopback).is_err(),
                "{url}"
            );
            assert!(check(url, WebhookTargets::Public).is_err(), "{url}");
        }
    }
}
