//! A certificate from files: loaded before anything is bound, and read again on a timer.
//!
//! A mounted Secret is a symbolic link that is swapped, which inotify on the file does not see. Where what is on disk does
//! not load (a chain whose key has yet to be swapped, say), the pair in use stays.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::MissedTickBehavior;

use super::Serving;
use super::clients::Clients;
use super::pair::{BadPair, Pair};
use crate::metrics::Metrics;

const CERT: &str = "tls-cert-file";
const KEY: &str = "tls-private-key-file";

/// Why a file cannot be used. Each names the flag to mend.
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

/// The pair of files.
#[derive(Debug)]
pub struct Files {
    cert: PathBuf,
    key: PathBuf,
    /// What was loaded last.
    pem: (Vec<u8>, Vec<u8>),
}

impl Files {
    /// Loads a chain (the leaf first) and its key, and shows them.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(cert: &Path, key: &Path, serving: &Serving) -> Result<Self, TlsError> {
        let mut files = Files { cert: cert.to_owned(), key: key.to_owned(), pem: (vec![], vec![]) };
        files.show(files.read()?, serving)?;
        Ok(files)
    }

    /// Shows what is on disk, where that is another pair than the one in use. Says whether it was.
    ///
    /// # Errors
    /// [`TlsError`]; the pair in use stays.
    pub fn reload(&mut self, serving: &Serving) -> Result<bool, TlsError> {
        let pem = self.read()?;
        if self.pem == pem {
            return Ok(false);
        }
        self.show(pem, serving).map(|()| true)
    }

    fn read(&self) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
        Ok((read(CERT, &self.cert)?, read(KEY, &self.key)?))
    }

    fn show(&mut self, pem: (Vec<u8>, Vec<u8>), serving: &Serving) -> Result<(), TlsError> {
        let pair = Pair::from_pem(&pem.0, &pem.1).map_err(|bad| self.blame(bad))?;
        // Who signed it is the business of whoever wrote the files.
        serving.show(pair, true);
        self.pem = pem;
        Ok(())
    }

    fn blame(&self, bad: BadPair) -> TlsError {
        match bad {
            BadPair::Certificate(why) => {
                TlsError::Unusable { flag: CERT, path: self.cert.clone(), what: "certificate", why }
            }
            BadPair::Key(why) => TlsError::Unusable { flag: KEY, path: self.key.clone(), what: "private key", why },
            BadPair::Mismatch(error) => TlsError::Mismatch { cert: self.cert.clone(), key: self.key.clone(), error },
        }
    }
}

pub(super) fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::Read { flag, path: path.to_owned(), error })
}

/// Reads the files again for ever, this often.
pub async fn keep_fresh(
    mut files: Option<Files>,
    clients: Option<Arc<Clients>>,
    serving: Arc<Serving>,
    every: Duration,
    metrics: Metrics,
) {
    if files.is_some() {
        tell(&serving, &metrics);
    }
    let mut timer = tokio::time::interval(every);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    loop {
        timer.tick().await;
        let reloaded = files.as_mut().map_or(Ok(false), |files| files.reload(&serving));
        if let Ok(true) = reloaded {
            tell(&serving, &metrics);
        }
        let of_clients = clients.as_ref().map_or(Ok(false), |clients| clients.reload());
        match reloaded.and(of_clients) {
            Ok(_) => told = None,
            Err(error) => {
                metrics.certificate_load_failed();
                let error = error.to_string();
                if told.as_ref() != Some(&error) {
                    tracing::warn!(error, "keeps the certificates that it has");
                    told = Some(error);
                }
            }
        }
    }
}

/// Tells when the certificate in use ends.
fn tell(serving: &Serving, metrics: &Metrics) {
    let Some(ends) = serving.ends() else { return };
    metrics.certificate(ends);
    if ends < Timestamp::now() {
        tracing::warn!(not_after = %ends, "the certificate of --{CERT} has ended: no API server will accept it");
    } else {
        tracing::info!(not_after = %ends, "serving the certificate of --{CERT}");
    }
}
