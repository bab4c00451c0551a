//! A wire between a client and a server: bytes pass, until it is told to trouble them. It does not look into them, so that TLS is
//! between the two ends.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::impostor;
use super::pump::{Direction, End, Reset, pump};

/// What happens to the connections of a wire, those that are open and those to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Each piece comes so much later.
    Delay(Duration),
    /// After so many more bytes one way, both ends are told that the connection is reset.
    Reset {
        /// Bytes that still pass.
        after: usize,
    },
    /// After so many more bytes of answers, the client is told that there are no more.
    Truncate {
        /// Bytes that still pass.
        after: usize,
    },
    /// Requests pass byte by byte, with such a pause after each.
    Trickle(Duration),
    /// Nothing passes, and nothing ends.
    Hang,
    /// Connections are reset at once.
    Cut,
    /// A connection on which no answer came for so long is half closed: the client is told that there are no more.
    HalfClose(Duration),
    /// Another answers in place of the server, with a certificate of his own.
    Impostor,
}

/// A wire. Dropping it ends its connections.
pub struct Wire {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    server: watch::Sender<SocketAddr>,
    trouble: watch::Sender<Option<Trouble>>,
    impostor: TlsAcceptor,
    troubled: AtomicUsize,
    fooled: AtomicUsize,
}

impl Wire {
    /// Begins at a free port of this address, and ends at the server.
    ///
    /// # Errors
    /// The address has no port.
    pub async fn to(server: SocketAddr, at: IpAddr) -> Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((at, 0))).await.context("making a wire")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server: watch::Sender::new(server),
            trouble: watch::Sender::new(None),
            impostor: impostor::acceptor(at)?,
            troubled: AtomicUsize::new(0),
            fooled: AtomicUsize::new(0),
        });
        let mut serving = JoinSet::new();
        serving.spawn(Arc::clone(&shared).accept(listener));
        Ok(Self { address, shared, _serving: serving })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on new connections end there.
    pub fn turn_to(&self, server: SocketAddr) {
        self.shared.server.send_replace(server);
    }

    /// Troubles the connections, until [`Wire::mend`].
    pub fn trouble(&self, trouble: Trouble) {
        self.shared.trouble.send_replace(Some(trouble));
    }

    /// All passes again.
    pub fn mend(&self) {
        self.shared.trouble.send_replace(None);
    }

    /// How many connections were ended, or met an impostor, by a trouble so far.
    pub fn troubled(&self) -> usize {
        self.shared.troubled.load(Ordering::Relaxed)
    }

    /// How many clients have spoken to an impostor as to the server: a client must not.
    pub fn fooled(&self) -> usize {
        self.shared.fooled.load(Ordering::Relaxed)
    }
}

impl Shared {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let mut connections = JoinSet::new();
        // A failed accept ends the wire, which is then seen as cut.
        while let Ok((client, _)) = listener.accept().await {
            let shared = Arc::clone(&self);
            connections.spawn(async move { shared.carry(client).await });
            while connections.try_join_next().is_some() {}
        }
    }

    async fn carry(&self, client: TcpStream) {
        let mut trouble = self.trouble.subscribe();
        let now = *trouble.borrow_and_update();
        let met = match now {
            Some(Trouble::Impostor) => self.impersonate(client).await,
            Some(Trouble::Cut) => client.set_zero_linger(),
            _ => self.connect(client, &mut trouble).await,
        };
        if met.is_err() || matches!(now, Some(Trouble::Impostor | Trouble::Cut)) {
            self.troubled.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn impersonate(&self, client: TcpStream) -> io::Result<()> {
        let mut client = self.impostor.accept(client).await?;
        // In TLS 1.3 a client that does not trust us says so only now; one that does sends its request.
        if client.read(&mut [0]).await? > 0 {
            self.fooled.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Carries bytes both ways until both are done, or the connection is to be reset.
    async fn connect(&self, client: TcpStream, trouble: &mut watch::Receiver<Option<Trouble>>) -> io::Result<()> {
        let address = *self.server.borrow();
        let Ok(server) = TcpStream::connect(address).await else { return client.set_zero_linger() };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let carried = tokio::try_join!(
            pump(&mut from_client, &mut to_server, Direction::Requests, trouble.clone()),
            pump(&mut from_server, &mut to_client, Direction::Answers, trouble.clone()),
        );
        // The client was told before it had said that it has no more: a trouble has done that.
        if let Ok((_, End::Trouble)) = carried {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Err(Reset) = carried {
            from_client.as_ref().set_zero_linger()?;
            from_server.as_ref().set_zero_linger()?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}
