//! Which addresses a destroy may be sent to: not the process's own host, nor what answers only because of where we run.
//!
//! The addresses that a name resolves to are checked, and only those that passed are connected to: a name that resolves
//! otherwise a moment later changes nothing. Private addresses are allowed: receivers live in the cluster.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec::IntoIter;

use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;

/// Where clouds answer with the credentials of the machine that asks, beside the link-local 169.254.169.254.
const METADATA: [IpAddr; 4] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),                    // Azure
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),                  // Alibaba
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)), // AWS
];

/// Which addresses are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Loopback and link-local, too.
    pub allow_local: bool,
}

impl Guard {
    /// What speaks against the address, if anything.
    #[must_use]
    pub fn objection(self, address: IpAddr) -> Option<&'static str> {
        let address = unwrapped(address);
        let local = match address {
            IpAddr::V4(v4) => v4.is_link_local(),
            IpAddr::V6(v6) => v6.is_unicast_link_local(),
        };
        if METADATA.contains(&address) {
            Some("a cloud's metadata service")
        } else if address.is_unspecified() || matches!(address, IpAddr::V4(v4) if v4.octets()[0] == 0) {
            Some("no address of a receiver")
        } else if address.is_multicast() || matches!(address, IpAddr::V4(v4) if v4.is_broadcast()) {
            Some("an address of many")
        } else if self.allow_local {
            None
        } else if address.is_loopback() {
            Some("loopback, and --sink-allow-local is not set")
        } else {
            local.then_some("link-local, and --sink-allow-local is not set")
        }
    }
}

/// The IPv4 address within one of IPv6 that leads there: mapped, compatible, or of NAT64.
fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let v4 = match v6.segments() {
        _ if v6.is_loopback() || v6.is_unspecified() => None,
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some((high, low)),
        _ => None,
    };
    v4.map_or(address, |(high, low)| IpAddr::V4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))))
}

/// Resolves names to addresses that the guard allows.
#[derive(Debug, Clone)]
pub(super) struct Resolver(pub(super) Guard);

impl Service<Name> for Resolver {
    type Response = IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = self.0;
        Box::pin(async move { allowed(guard, &name, tokio::net::lookup_host((name.as_str(), 0)).await?) })
    }
}

fn allowed(guard: Guard, name: &Name, addresses: impl Iterator<Item = SocketAddr>) -> io::Result<IntoIter<SocketAddr>> {
    let (mut allowed, mut refused) = (vec![], None);
    for address in addresses {
        match guard.objection(address.ip()) {
            None => allowed.push(address),
            Some(objection) => refused = Some((address.ip(), objection)),
        }
    }
    match refused {
        Some((address, objection)) if allowed.is_empty() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{name} is {address}: {objection}")))
        }
        Some(_) | None => Ok(allowed.into_iter()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection(address: &str, allow_local: bool) -> Option<&'static str> {
        Guard { allow_local }.objection(address.parse().unwrap())
    }

    #[test]
    fn receivers_in_the_cluster_and_elsewhere_are_allowed() {
        for address in ["10.0.0.1", "192.168.1.1", "172.16.0.9", "100.64.0.1", "203.0.113.5", "fd12::1", "2001:db8::1"]
        {
            assert_eq!(objection(address, false), None, "{address}");
        }
        assert_eq!(objection("64:ff9b::10.0.0.1", false), None);
    }

    #[test]
    fn loopback_and_link_local_are_refused_in_every_form_unless_allowed() {
        for (address, what) in [
            ("127.0.0.1", "loopback"),
            ("127.9.9.9", "loopback"),
            ("::1", "loopback"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::127.0.0.1", "loopback"),
            ("64:ff9b::127.0.0.1", "loopback"),
            ("169.254.1.1", "link-local"),
            ("::ffff:169.254.1.1", "link-local"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
        ] {
            assert!(objection(address, false).is_some_and(|why| why.starts_with(what)), "{address}");
            assert_eq!(objection(address, true), None, "{address}");
        }
    }

    #[test]
    fn metadata_services_and_what_is_no_receiver_are_never_allowed() {
        for address in [
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "fd00:ec2::254",
            "0.0.0.0",
            "0.1.2.3",
            "::",
            "::ffff:0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "ff02::1",
        ] {
            assert!(objection(address, true).is_some(), "{address}");
        }
    }

    #[test]
    fn a_name_leads_only_to_addresses_that_passed() {
        let resolve = |addresses: &[&str]| {
            let addresses: Vec<SocketAddr> =
                addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
            let name: Name = "receiver.example".parse().unwrap();
            allowed(Guard { allow_local: false }, &name, addresses.into_iter()).map(Iterator::collect::<Vec<_>>)
        };
        assert_eq!(resolve(&["127.0.0.1", "10.0.0.1"]).unwrap(), ["10.0.0.1:0".parse().unwrap()]);
        let refused = resolve(&["::1"]).unwrap_err().to_string();
        assert_eq!(refused, "receiver.example is ::1: loopback, and --sink-allow-local is not set");
    }
}
