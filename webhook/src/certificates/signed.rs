//! One certificate: how it is made, what it says, and for how long it is good.

use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate};

/// A certificate begins so long before it is made: the clock of whoever checks it may be behind.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// A certificate, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The certificate.
    pub pem: String,
    der: CertificateDer<'static>,
    /// When it begins.
    pub begins: Timestamp,
    /// When it ends.
    pub ends: Timestamp,
    /// The names and addresses it is for, in order.
    pub hosts: Vec<String>,
}

/// A new authority, and its key.
///
/// # Errors
/// No key can be made.
pub fn authority(now: Timestamp, validity: SignedDuration) -> Result<(Signed, String)> {
    // Names differ, so that whoever checks a chain takes the right one at once.
    let mut params = params(&format!("eno-webhook authority of {now:.0}"), now, now.saturating_add(validity)?);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    // ECDSA on P-256.
    let key = KeyPair::generate()?;
    Ok((Signed::from_pem(&params.self_signed(&key)?.pem())?, key.serialize_pem()))
}

/// A new serving certificate for these names and addresses, and its key. It does not outlive its authority.
///
/// # Errors
/// The key is not one, or a name is not one.
pub fn leaf(
    authority: &Signed,
    key: &str,
    hosts: &[String],
    now: Timestamp,
    validity: SignedDuration,
) -> Result<(Signed, String)> {
    let issuer = Issuer::from_ca_cert_pem(&authority.pem, KeyPair::from_pem(key)?)?;
    let name = hosts.first().context("a certificate needs a name")?;
    let mut params = params(name, now, now.saturating_add(validity)?.min(authority.ends));
    params.subject_alt_names = CertificateParams::new(hosts)?.subject_alt_names;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    Ok((Signed::from_pem(&params.signed_by(&key, &issuer)?.pem())?, key.serialize_pem()))
}

fn params(name: &str, now: Timestamp, ends: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    // The longest common name.
    params.distinguished_name.push(DnType::CommonName, name.chars().take(64).collect::<String>());
    params.not_before = SystemTime::from(now - BACKDATED).into();
    params.not_after = SystemTime::from(ends).into();
    params
}

impl Signed {
    /// The first certificate of a PEM text.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn from_pem(pem: &str) -> Result<Self> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes())?;
        let (_, parsed) = X509Certificate::from_der(&der)?;
        let time = |time: ASN1Time| Timestamp::from_second(time.timestamp());
        let (begins, ends) = (time(parsed.validity().not_before)?, time(parsed.validity().not_after)?);
        let names = parsed.subject_alternative_name()?;
        let hosts = names.into_iter().flat_map(|names| &names.value.general_names).filter_map(host).collect();
        Ok(Signed { pem: pem.trim().to_owned() + "\n", begins, ends, hosts, der: der.clone() })
    }

    /// All certificates of a PEM text.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn all(pem: &str) -> Result<Vec<Self>> {
        let parts = pem.split_inclusive("-----END CERTIFICATE-----");
        parts.filter(|part| !part.trim().is_empty()).map(Self::from_pem).collect()
    }

    /// Did this authority sign it?
    pub fn is_signed_by(&self, authority: &Self) -> bool {
        let key = X509Certificate::from_der(&authority.der);
        let (Ok((_, authority)), Ok((_, signed))) = (key, X509Certificate::from_der(&self.der)) else { return false };
        signed.issuer() == authority.subject() && signed.verify_signature(Some(authority.public_key())).is_ok()
    }

    /// Is it one of these (PEM)?
    pub fn is_in(&self, bundle: &[u8]) -> bool {
        CertificateDer::pem_slice_iter(bundle).flatten().any(|der| der == self.der)
    }

    /// Is this its key?
    ///
    /// # Errors
    /// It is not, or not a key.
    pub fn goes_with(&self, key: &str) -> Result<()> {
        let key = KeyPair::from_pem(key).context("there is no usable key")?;
        let (_, parsed) = X509Certificate::from_der(&self.der)?;
        ensure!(
            parsed.public_key().subject_public_key.data == key.public_key_raw(),
            "the key is of another certificate"
        );
        Ok(())
    }

    /// When it was made.
    pub fn made(&self) -> Timestamp {
        self.begins + BACKDATED
    }

    /// When a new one is to be made: after two thirds of its time.
    pub fn due(&self) -> Timestamp {
        self.made() + self.ends.duration_since(self.made()) * 2 / 3
    }

    /// Is it good now, and not due?
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.is_valid(now) && now < self.due()
    }

    /// Is it good now? A clock that was set back makes one that is not yet.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.begins <= now && now < self.ends
    }
}

fn host(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match <[u8; 4]>::try_from(*bytes) {
            Ok(v4) => Some(std::net::Ipv4Addr::from(v4).to_string()),
            Err(_) => Some(std::net::Ipv6Addr::from(<[u8; 16]>::try_from(*bytes).ok()?).to_string()),
        },
        _ => None,
    }
}
