//! Which addresses webhooks may have: none that make the server call into its own network. Development on one machine is
//! the exception, by name or loopback address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::Uri;

/// An address that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    /// The path, with its query.
    pub(super) path: String,
    /// What goes into the header `Host`.
    pub(super) authority: String,
}

/// How far webhooks reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Public addresses, by https.
    Public,
    /// This machine too, by http: for development, where nobody else can ask.
    ThisMachine,
}

/// Checks an address as far as it can be without resolving its name.
pub(super) fn check(url: &str, reach: Reach) -> Result<Target, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "the webhook's address is no URL")?;
    let authority = uri
        .authority()
        .ok_or("the webhook's address names no host")?;
    if authority.as_str().contains('@') {
        return Err("a webhook's address holds no password");
    }
    let host = authority
        .host()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let is_tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") if is_local(host) => false,
        _ => return Err("a webhook is called by https"),
    };
    if is_local(host) && reach == Reach::Public {
        return Err("a webhook's address must be public");
    }
    if let Ok(address) = host.parse()
        && !may_be_called(address, is_local(host))
    {
        return Err("a webhook's address must be public");
    }
    let port = authority
        .port_u16()
        .unwrap_or(if is_tls { 443 } else { 80 });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Ok(Target {
        host: host.to_owned(),
        port,
        is_tls,
        path: path.to_owned(),
        authority: authority.as_str().to_owned(),
    })
}

/// Whether a host is this machine, as developers write it.
pub(super) fn is_local(host: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    host.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

/// Whether an address may be called, for a host that is this machine or not.
pub(super) fn may_be_called(address: IpAddr, is_local: bool) -> bool {
    match address.to_canonical() {
        address if is_local => address.is_loopback(),
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
    let is_mapped_or_translated =
        first == 0 || (first == 0x64 && second == 0xff9b) || first == 0x2002;
    !(address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || is_mapped_or_translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_leads_into_a_network_of_our_own() {
        for url in [
            "https://example.com/hook?x=1",
            "https://93.184.216.34:8443/",
            "http://localhost:3000/x",
            "http://127.0.0.1:99/",
            "https://[2606:2800:220:1::1]/",
        ] {
            assert!(check(url, Reach::ThisMachine).is_ok(), "{url}");
            let is_public = url.starts_with("https:");
            assert_eq!(check(url, Reach::Public).is_ok(), is_public, "{url}");
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
            "https://[64:ff9b::a00:1]/",
            "http://example.com/",
            "ftp://example.com/",
            "https://user:secret@example.com/",
            "/hook",
            "",
        ] {
            assert!(check(url, Reach::ThisMachine).is_err(), "{url}");
            assert!(check(url, Reach::Public).is_err(), "{url}");
        }
    }
}
