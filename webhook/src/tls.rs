//! The serving certificate: loaded before anything is bound, and read again on a timer.
//!
//! A mounted Secret is a symbolic link that is swapped, which inotify on the file does not see. Where what is on disk does
//! not load (a chain whose key has yet to be swapped, say), the pair in use stays.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::metrics::Metrics;

/// Why the serving certificate cannot be used. Each names the flag to mend.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read --{flag} {}: {error}", path.display())]
    Read {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("--{flag} {} holds no usable {what}: {why}", path.display())]
    Unusable {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// The key is not that of the certificate, or of a kind that cannot sign.
    #[error("--tls-private-key-file {} does not go with --tls-cert-file {}: {error}", key.display(), cert.display())]
    Mismatch {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Why.
        error: rustls::Error,
    },
}

/// The pair of files, and the certificate in use.
pub struct Certificate {
    cert: PathBuf,
    key: PathBuf,
    in_use: RwLock<Loaded>,
}

struct Loaded {
    pem: (Vec<u8>, Vec<u8>),
    pair: Arc<CertifiedKey>,
    not_after: i64,
}

impl Certificate {
    /// Loads a chain (the leaf first) and its key: PKCS#8, SEC1 or PKCS#1, in PEM.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(cert: &Path, key: &Path) -> Result<Arc<Self>, TlsError> {
        let in_use = RwLock::new(load(cert, key, read_both(cert, key)?)?);
        Ok(Arc::new(Certificate { cert: cert.to_owned(), key: key.to_owned(), in_use }))
    }

    /// TLS 1.3 or 1.2, HTTP/1.1 only.
    ///
    /// # Panics
    /// Never: ring has suites for both versions.
    #[must_use]
    pub fn server_config(self: &Arc<Self>) -> ServerConfig {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .expect("ring supports TLS 1.3 and 1.2")
            .with_no_client_auth()
            .with_cert_resolver(Arc::<Self>::clone(self));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }

    /// When the certificate in use ends, in seconds since 1970.
    #[must_use]
    pub fn not_after(&self) -> i64 {
        self.in_use(|loaded| loaded.not_after)
    }

    /// Takes into use what is on disk, where that is another pair than the one in use. Says whether it was.
    ///
    /// # Errors
    /// [`TlsError`]; the pair in use stays.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let pem = read_both(&self.cert, &self.key)?;
        if self.in_use(|loaded| loaded.pem == pem) {
            return Ok(false);
        }
        let loaded = load(&self.cert, &self.key, pem)?;
        *self.in_use.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(true)
    }

    /// Reloads for ever, this often.
    pub async fn keep_fresh(self: Arc<Self>, every: Duration, metrics: Metrics) {
        self.tell(&metrics);
        let mut timer = tokio::time::interval(every);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut told = None;
        loop {
            timer.tick().await;
            match self.reload() {
                Ok(true) => {
                    self.tell(&metrics);
                    told = None;
                }
                Ok(false) => told = None,
                Err(error) => {
                    metrics.certificate_load_failed();
                    let error = error.to_string();
                    if told.as_ref() != Some(&error) {
                        tracing::warn!(error, "keeps serving the certificate that it has");
                        told = Some(error);
                    }
                }
            }
        }
    }

    /// Tells when the certificate in use ends. One that has ended is served all the same: a new one may be on its way.
    fn tell(&self, metrics: &Metrics) {
        metrics.certificate(self.not_after());
        let not_after = Timestamp::from_second(self.not_after()).unwrap_or(Timestamp::MAX);
        if not_after < Timestamp::now() {
            tracing::warn!(%not_after, "the certificate of --{CERT} has ended: no API server will accept it");
        } else {
            tracing::info!(%not_after, "serving the certificate of --{CERT}");
        }
    }

    fn in_use<T>(&self, ask: impl FnOnce(&Loaded) -> T) -> T {
        ask(&self.in_use.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.in_use(|loaded| Arc::clone(&loaded.pair)))
    }
}

// The key stays out of logs.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("cert", &self.cert).field("key", &self.key).finish_non_exhaustive()
    }
}

const CERT: &str = "tls-cert-file";
const KEY: &str = "tls-private-key-file";

fn read_both(cert: &Path, key: &Path) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
    let read =
        |flag, path: &Path| std::fs::read(path).map_err(|error| TlsError::Read { flag, path: path.to_owned(), error });
    Ok((read(CERT, cert)?, read(KEY, key)?))
}

fn load(cert: &Path, key: &Path, pem: (Vec<u8>, Vec<u8>)) -> Result<Loaded, TlsError> {
    let unusable = |flag, path: &Path, what, why: &dyn fmt::Display| TlsError::Unusable {
        flag,
        path: path.to_owned(),
        what,
        why: why.to_string(),
    };
    let not_a_chain = |why: &dyn fmt::Display| unusable(CERT, cert, "certificate", why);
    let chain: Vec<_> =
        CertificateDer::pem_slice_iter(&pem.0).collect::<Result<_, _>>().map_err(|error| not_a_chain(&error))?;
    let leaf = chain.first().ok_or_else(|| not_a_chain(&"there is none in it"))?;
    let (_, parsed) = X509Certificate::from_der(leaf).map_err(|error| not_a_chain(&error))?;
    let not_after = parsed.validity().not_after.timestamp();
    let private = PrivateKeyDer::from_pem_slice(&pem.1).map_err(|error| unusable(KEY, key, "private key", &error))?;
    let pair = CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|error| match error {
        rustls::Error::InvalidCertificate(why) => not_a_chain(&why),
        error => TlsError::Mismatch { cert: cert.to_owned(), key: key.to_owned(), error },
    })?;
    Ok(Loaded { pem, pair: Arc::new(pair), not_after })
}
