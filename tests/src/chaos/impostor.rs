//! Who answers in place of a server, with a certificate of his own that nobody was told to trust.

use std::net::IpAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use eno_shared::names::{WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::controlplane::Authority;

/// An acceptor with a certificate for the names that a client may ask for, of an unknown authority.
///
/// # Errors
/// No key can be made.
pub fn acceptor(at: IpAddr) -> Result<TlsAcceptor> {
    let service = format!("{WEBHOOK_NAME}.{WEBHOOK_NAMESPACE}.svc");
    let pair = Authority::new()?.server(&[&at.to_string(), &service])?;
    let chain = vec![CertificateDer::from_pem_slice(pair.cert.as_bytes()).context("a certificate of ours")?];
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).context("a key of ours")?;
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
