//! Binding: IPv4 and IPv6 on one socket where the machine has both.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Binds the address. `::` also takes IPv4, and is `0.0.0.0` where IPv6 is switched off.
///
/// # Errors
/// The address is in use, not of this machine, or not permitted.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    match open(address) {
        Err(error) if address.ip() == IpAddr::from([0u16; 8]) && is_without_ipv6(&error) => {
            tracing::info!(%error, "IPv6 is not available: listening on IPv4 only");
            open(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())))
        }
        bound => bound,
    }
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    // A restart must not wait for the connections of the process before.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn is_without_ipv6(error: &io::Error) -> bool {
    // EAFNOSUPPORT has no kind of its own.
    const EAFNOSUPPORT: i32 = 97;
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(EAFNOSUPPORT)
}
