//! A chain and its key, in PEM.

use std::fmt;

use jiff::Timestamp;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, X509Certificate};

/// A chain with its key, ready to serve.
pub struct Pair {
    pub(super) key: CertifiedKey,
    pub(super) ends: Timestamp,
}

/// What is wrong with a pair.
#[derive(Debug, thiserror::Error)]
pub enum BadPair {
    /// There is no certificate, or one that cannot be read.
    #[error("no usable certificate: {0}")]
    Certificate(String),
    /// There is no key, or one that cannot be read.
    #[error("no usable private key: {0}")]
    Key(String),
    /// The key is not that of the certificate, or of a kind that cannot sign.
    #[error("the key does not go with the certificate: {0}")]
    Mismatch(rustls::Error),
}

impl Pair {
    /// Reads a chain (the leaf first) and its key: PKCS#8, SEC1 or PKCS#1.
    ///
    /// # Errors
    /// [`BadPair`].
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, BadPair> {
        let unusable = |why: &dyn fmt::Display| BadPair::Certificate(why.to_string());
        let chain: Vec<_> =
            CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>().map_err(|error| unusable(&error))?;
        let leaf = chain.first().ok_or_else(|| unusable(&"there is none in it"))?;
        let (_, parsed) = X509Certificate::from_der(leaf).map_err(|error| unusable(&error))?;
        let ends = Timestamp::from_second(parsed.validity().not_after.timestamp()).unwrap_or(Timestamp::MAX);
        let private = PrivateKeyDer::from_pem_slice(key).map_err(|error| BadPair::Key(error.to_string()))?;
        let key = CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|error| match error {
            rustls::Error::InvalidCertificate(why) => unusable(&why),
            error => BadPair::Mismatch(error),
        })?;
        Ok(Pair { key, ends })
    }
}
