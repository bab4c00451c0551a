//! Who may connect, where that is asked: clients with a certificate of a known authority, and of a known name.
//!
//! The API server shows one where its AdmissionConfiguration names a kubeconfig with one; without it is anonymous.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::files::{TlsError, read};

const FLAG: &str = "client-ca-file";

/// Whose certificates are accepted.
#[derive(Debug, Clone)]
pub struct Options {
    /// The authorities that sign clients, in PEM; read again when it changes.
    pub authorities: PathBuf,
    /// The common names that are let in; all where none is named.
    pub names: Vec<String>,
}

/// Looks at the certificates of clients.
pub struct Clients {
    options: Options,
    in_use: RwLock<Loaded>,
}

struct Loaded {
    pem: Vec<u8>,
    verifier: Arc<dyn ClientCertVerifier>,
}

impl Clients {
    /// Loads the authorities.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(options: Options) -> Result<Arc<Self>, TlsError> {
        let pem = read(FLAG, &options.authorities)?;
        let verifier = verifier(&options.authorities, &pem)?;
        Ok(Arc::new(Clients { options, in_use: RwLock::new(Loaded { pem, verifier }) }))
    }

    /// Takes the authorities that are on disk, where they are others. Says whether they were.
    ///
    /// # Errors
    /// [`TlsError`]; those in use stay.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let pem = read(FLAG, &self.options.authorities)?;
        if self.in_use.read().unwrap_or_else(PoisonError::into_inner).pem == pem {
            return Ok(false);
        }
        let verifier = verifier(&self.options.authorities, &pem)?;
        *self.in_use.write().unwrap_or_else(PoisonError::into_inner) = Loaded { pem, verifier };
        Ok(true)
    }

    fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::clone(&self.in_use.read().unwrap_or_else(PoisonError::into_inner).verifier)
    }

    /// Is the client one of those that are let in?
    fn is_named(&self, certificate: &CertificateDer<'_>) -> bool {
        let Ok((_, parsed)) = X509Certificate::from_der(certificate) else { return false };
        let mut names = parsed.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        self.options.names.is_empty() || names.any(|name| self.options.names.iter().any(|allowed| allowed == name))
    }
}

fn verifier(path: &Path, pem: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let unusable = |why: &dyn fmt::Display| TlsError::Unusable {
        flag: FLAG,
        path: path.to_owned(),
        what: "certificate",
        why: why.to_string(),
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| unusable(&error))?;
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    let provider = Arc::new(ring::default_provider());
    // Refuses to be built without a root.
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(|error| unusable(&error))
}

impl ClientCertVerifier for Clients {
    /// None: the authorities may change, and the API server shows what it has.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.verifier().verify_client_cert(certificate, intermediates, now)?;
        match self.is_named(certificate) {
            true => Ok(verified),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier().verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier().verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier().supported_verify_schemes()
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").field("options", &self.options).finish_non_exhaustive()
    }
}
