//! What is shown to those who connect, and what they must show.
//!
//! [`Serving`] holds the pair in use. It comes from [`files`], or is [kept by the replicas](crate::certificates). A pair that
//! is swapped is shown to new connections; open ones stay.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use rustls::crypto::ring;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ConfigBuilder, ServerConfig, WantsVerifier};

use crate::clock::Clock;

pub mod clients;
pub mod files;
pub mod pair;

use clients::Clients;
use pair::Pair;

/// The certificate in use.
pub struct Serving {
    in_use: RwLock<Option<InUse>>,
    clock: Clock,
}

struct InUse {
    pair: Arc<CertifiedKey>,
    ends: Timestamp,
    /// Does the API server know who signed it?
    known: bool,
}

impl Serving {
    /// None yet.
    #[must_use]
    pub fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Serving { in_use: RwLock::new(None), clock })
    }

    /// From now on shows this pair. `known` says that the API server trusts who signed it.
    pub fn show(&self, pair: Pair, known: bool) {
        let in_use = InUse { pair: Arc::new(pair.key), ends: pair.ends, known };
        *self.in_use.write().unwrap_or_else(PoisonError::into_inner) = Some(in_use);
    }

    /// The API server trusts who signed the certificate in use.
    pub fn known(&self) {
        if let Some(in_use) = self.in_use.write().unwrap_or_else(PoisonError::into_inner).as_mut() {
            in_use.known = true;
        }
    }

    /// When the certificate in use ends.
    #[must_use]
    pub fn ends(&self) -> Option<Timestamp> {
        self.in_use(|in_use| Some(in_use?.ends))
    }

    /// Why no API server would accept what is shown; `None` where it would. Nothing is read for the answer.
    #[must_use]
    pub fn unready(&self) -> Option<&'static str> {
        self.in_use(|in_use| match in_use {
            None => Some("there is no serving certificate yet"),
            Some(in_use) if in_use.ends <= self.clock.now() => Some("the serving certificate has ended"),
            Some(InUse { known: false, .. }) => {
                Some("the webhook configurations do not trust the serving certificate yet")
            }
            Some(InUse { known: true, .. }) => None,
        })
    }

    /// TLS 1.3 or 1.2, HTTP/1.1 only. With `clients`, those who connect must show a certificate as well.
    #[must_use]
    pub fn server_config(self: &Arc<Self>, clients: Option<Arc<Clients>>) -> ServerConfig {
        let resolver = Arc::<Self>::clone(self);
        let mut config = match clients {
            None => versions().with_no_client_auth().with_cert_resolver(resolver),
            Some(clients) => {
                let mut config = versions().with_client_cert_verifier(clients).with_cert_resolver(resolver);
                // A session that is resumed would not be asked again who it is.
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
                config
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }

    fn in_use<T>(&self, ask: impl FnOnce(Option<&InUse>) -> T) -> T {
        ask(self.in_use.read().unwrap_or_else(PoisonError::into_inner).as_ref())
    }
}

fn versions() -> ConfigBuilder<ServerConfig, WantsVerifier> {
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .expect("ring has suites for TLS 1.3 and 1.2")
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.in_use(|in_use| Some(Arc::clone(&in_use?.pair)))
    }
}

// The key stays out of logs.
impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("ends", &self.ends()).finish_non_exhaustive()
    }
}
