//! Which proxy leads to the API server, as Go's HTTP client decides it for kubectl.
//!
//! kube compares `NO_PROXY` with the proxy's own address, and fails on entries it does not know. So it is decided here.

use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;

/// The proxy for a server, `None` for a direct connection. `proxy-url` of a kubeconfig knows no exceptions.
///
/// # Errors
/// Where the proxy's URL is malformed.
pub(super) fn decide(proxy_url: Option<&str>, server: &Uri) -> Result<Option<Uri>, String> {
    decide_with(proxy_url, server, |name| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        value.or_else(|| std::env::var(name.to_lowercase()).ok()).filter(|value| !value.is_empty())
    })
}

fn decide_with(
    proxy_url: Option<&str>,
    server: &Uri,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Uri>, String> {
    if let Some(proxy) = proxy_url.filter(|proxy| !proxy.is_empty()) {
        return parse(proxy).map(Some);
    }
    let name = if server.scheme_str() == Some("https") { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let Some(proxy) = variable(name) else { return Ok(None) };
    if is_direct(server, &variable("NO_PROXY").unwrap_or_default()) {
        return Ok(None);
    }
    parse(&proxy).map(Some)
}

fn parse(proxy: &str) -> Result<Uri, String> {
    let url = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    // Names are resolved by the proxy in any case.
    let url = url.strip_prefix("socks5h://").map_or(url.clone(), |rest| format!("socks5://{rest}"));
    url.parse().map_err(|error| format!("invalid proxy address {proxy:?}: {error}"))
}

/// Is the server reached without a proxy?
fn is_direct(server: &Uri, no_proxy: &str) -> bool {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_lowercase();
    let host = host.trim_end_matches('.');
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 });
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    no_proxy.split(',').map(str::trim).any(|entry| excepts(&entry.to_lowercase(), host, address, port))
}

/// Does an entry of `NO_PROXY` except the server? Entries: `*`, an address, a range, a domain, each but ranges with a port
/// or not. What is none of these excepts nothing.
fn excepts(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let (Ok(range), Some(address)) = (entry.parse::<IpNet>(), address) {
        return range.contains(&address);
    }
    let unbracketed = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_owned();
    let (name, entry_port) = match entry.rsplit_once(':') {
        // A colon within an address is none before a port.
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => match digits.parse() {
            Ok(port) => (unbracketed(name), Some(port)),
            Err(_) => return false,
        },
        Some(_) | None => (unbracketed(entry), None),
    };
    if name.is_empty() || entry_port.is_some_and(|entry_port: u16| entry_port != port) {
        return false;
    }
    if let Ok(entry_address) = name.parse::<IpAddr>() {
        return address == Some(entry_address);
    }
    // `.a.b` and `*.a.b` are of what is below, `a.b` of itself too.
    let domain = name.strip_prefix('*').unwrap_or(&name);
    match domain.strip_prefix('.') {
        Some(_) => host.ends_with(domain),
        None => host == domain || host.ends_with(&format!(".{domain}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxied(server: &str, no_proxy: &str) -> bool {
        let variable = |name: &str| match name {
            "HTTPS_PROXY" => Some("proxy:3128".to_owned()),
            "NO_PROXY" => Some(no_proxy.to_owned()),
            _ => None,
        };
        decide_with(None, &server.parse().unwrap(), variable).unwrap().is_some()
    }

    #[test]
    fn no_proxy_is_of_the_server() {
        for (server, no_proxy) in [
            ("https://api.example.com:6443", "api.example.com"),
            ("https://api.example.com:6443", "example.com"),
            ("https://api.example.com:6443", ".example.com"),
            ("https://api.example.com:6443", "*.example.com"),
            ("https://api.example.com:6443", "x, API.example.com:6443"),
            ("https://10.1.2.3:6443", "10.0.0.0/8"),
            ("https://10.1.2.3", "10.1.2.3"),
            ("https://[fd00::1]:6443", "fd00::/8"),
            ("https://[fd00::1]:6443", "[fd00::1]:6443"),
            ("https://api", "*"),
            ("https://localhost:6443", ""),
            ("https://127.0.0.1:6443", ""),
        ] {
            assert!(!proxied(server, no_proxy), "{server} {no_proxy}");
        }
        for (server, no_proxy) in [
            ("https://api.example.com:6443", ""),
            ("https://api.example.com:6443", "proxy, odd entry/, ,"),
            ("https://api.example.com:6443", "api.example.com:443"),
            ("https://example.com", ".example.com"),
            ("https://badexample.com", "example.com"),
            ("https://10.1.2.3:6443", "11.0.0.0/8,10.1.2.4"),
        ] {
            assert!(proxied(server, no_proxy), "{server} {no_proxy}");
        }
    }

    #[test]
    fn proxy_of_the_kubeconfig_knows_no_exceptions() {
        let server = "https://api".parse().unwrap();
        let proxy = decide_with(Some("socks5h://p:1"), &server, |_| Some("*".to_owned())).unwrap().unwrap();
        assert_eq!(proxy.to_string(), "socks5://p:1/");
    }

    #[test]
    fn plain_http_has_a_proxy_of_its_own() {
        let server = "http://api".parse().unwrap();
        let variable = |name: &str| (name == "HTTPS_PROXY").then(|| "proxy:1".to_owned());
        assert_eq!(decide_with(None, &server, variable), Ok(None));
    }
}
