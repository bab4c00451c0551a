//! The webhook's certificate and who signed it, looked at as the API server does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::check::Check;
use super::id::Id;
use super::webhook::Place;
use crate::age::age;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(2);

/// The certificates of a CA bundle (PEM).
pub(super) fn bundle(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect()
}

/// Is the CA bundle valid now?
pub(super) fn authority(bundle: Option<&[CertificateDer<'static>]>, now: Timestamp) -> Check {
    let Some(bundle) = bundle else {
        return Check::skipped(Id::WebhookCa, "the configuration has no CA bundle: the API server's own trust decides");
    };
    let ends: Vec<Timestamp> = bundle.iter().filter_map(|certificate| ends(certificate)).collect();
    match ends.iter().max() {
        None => Check::failed(Id::WebhookCa, "the CA bundle holds no certificate"),
        Some(end) if *end <= now => {
            Check::failed(Id::WebhookCa, format!("the CA bundle has ended {} ago", age(Some(*end), now)))
        }
        Some(end) => Check::passed(Id::WebhookCa, format!("CA bundle is valid for another {}", left(*end, now))),
    }
}

/// Is the certificate signed by the bundle, valid now, and of that name?
pub(super) async fn serving(
    place: &Place,
    bundle: Option<&[CertificateDer<'static>]>,
    warn: SignedDuration,
    now: Timestamp,
) -> Check {
    let mut why = "no endpoint is known".to_owned();
    for address in &place.addresses {
        match shown(address, &place.name).await {
            Ok(chain) => return judged(&chain, place, bundle, warn, now),
            Err(error) => why = format!("cannot connect to {address} from here: {error}"),
        }
    }
    Check::skipped(Id::WebhookCertificate, why)
}

fn judged(
    chain: &[CertificateDer<'static>],
    place: &Place,
    bundle: Option<&[CertificateDer<'static>]>,
    warn: SignedDuration,
    now: Timestamp,
) -> Check {
    let (Some((leaf, intermediates)), Some(end)) = (chain.split_first(), chain.first().and_then(|leaf| ends(leaf)))
    else {
        return Check::failed(Id::WebhookCertificate, "the webhook shows no certificate that can be read");
    };
    if let Some(bundle) = bundle
        && let Err(why) = verified(leaf, intermediates, &place.name, bundle)
    {
        let message = format!("the certificate is not one that the API server accepts for {}: {why}", place.name);
        return Check::failed(Id::WebhookCertificate, message);
    }
    if end <= now {
        return Check::failed(Id::WebhookCertificate, format!("the certificate has ended {} ago", age(Some(end), now)));
    }
    let signed = if bundle.is_some() { "the CA bundle verifies it, " } else { "" };
    let message = format!("certificate for {}: {signed}it ends in {}", place.name, left(end, now));
    match end.duration_since(now) < warn {
        true => Check::warning(Id::WebhookCertificate, message),
        false => Check::passed(Id::WebhookCertificate, message),
    }
}

/// rustls and x509 give seconds.
fn ends(certificate: &CertificateDer<'_>) -> Option<Timestamp> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Timestamp::from_second(parsed.validity().not_after.timestamp()).ok()
}

/// The time until then, as ages are shown.
fn left(end: Timestamp, now: Timestamp) -> String {
    age(Some(now), end)
}

fn verified(
    leaf: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    name: &str,
    bundle: &[CertificateDer<'static>],
) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(bundle.iter().cloned());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|error| error.to_string())?;
    let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
    let verified = verifier.verify_server_cert(leaf, intermediates, &name, &[], UnixTime::now());
    verified.map(drop).map_err(|error| error.to_string())
}

/// The chain that is shown at an address.
async fn shown(address: &str, name: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let recorder = Arc::new(Recorder::default());
    let config = rustls::ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?
        .dangerous()
        .with_custom_certificate_verifier(recorder.clone())
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).map_err(|error| text(&error))?;
    let connect = async {
        let stream = TcpStream::connect(address).await?;
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.map(drop)
    };
    let connected = tokio::time::timeout(CONNECT, connect).await;
    let chain = std::mem::take(&mut *recorder.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    match connected {
        // What was shown was shown, however the handshake ended.
        _ if !chain.is_empty() => Ok(chain),
        Ok(Ok(())) => Ok(chain),
        Ok(Err(error)) => Err(text(&error)),
        Err(_) => Err(format!("no answer within {} s", CONNECT.as_secs())),
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Takes any certificate, to look at it afterwards. Nothing is ever sent over such a connection.
#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<CertificateDer<'static>>>);

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let chain = std::iter::once(leaf).chain(intermediates).map(|certificate| certificate.clone().into_owned());
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = chain.collect();
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
