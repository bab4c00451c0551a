//! The flags of certificates.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args as Flags;
use eno_shared::names::WEBHOOK_NAME;
use jiff::SignedDuration;

use super::duration;
use crate::certificates;
use crate::certificates::stored::Wanted;
use crate::server::Certificate;
use crate::tls::clients;

#[derive(Debug, Flags)]
#[command(next_help_heading = "Certificates")]
pub(super) struct Certificates {
    /// Serving certificate in PEM, the leaf first; read again when it changes.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_private_key_file",
        required_unless_present = "self_managed_certificate"
    )]
    tls_cert_file: Option<PathBuf>,
    /// Its private key in PEM: PKCS#8, SEC1 or PKCS#1.
    #[arg(long, value_name = "FILE", requires = "tls_cert_file", required_unless_present = "self_managed_certificate")]
    tls_private_key_file: Option<PathBuf>,
    /// Let the replicas make and renew the certificate themselves, share it in a Secret, and tell the API server whom to trust.
    #[arg(long, conflicts_with_all = ["tls_cert_file", "tls_private_key_file"])]
    self_managed_certificate: bool,
    /// The Secret of the self-managed certificate.
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = "eno-webhook-system/eno-webhook-tls", value_parser = object)]
    certificate_secret: (String, String),
    /// Names and addresses in the self-managed certificate: of a Service, NAME.NAMESPACE.svc.
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', default_value = "eno-webhook.eno-webhook-system.svc", value_parser = host)]
    certificate_host: Vec<String>,
    /// For how long the self-managed certificate is good; it is renewed after two thirds.
    #[arg(long, value_name = "DURATION", default_value = "168h", value_parser = validity)]
    certificate_validity: SignedDuration,
    /// For how long its authority is good; it is renewed after two thirds.
    #[arg(long, value_name = "DURATION", default_value = "8760h", value_parser = validity)]
    certificate_authority_validity: SignedDuration,
    /// The webhook configurations that are to trust the self-managed certificate.
    #[arg(long, value_name = "NAME", default_value = WEBHOOK_NAME)]
    webhook_configuration: String,
    /// Let in only clients with a certificate of these authorities, in PEM; read again when it changes.
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Of those, let in only these common names.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "client_ca_file")]
    client_allowed_names: Vec<String>,
}

impl Certificates {
    /// Where the serving certificate comes from.
    pub(super) fn source(&self) -> Result<Certificate> {
        if self.self_managed_certificate {
            let (namespace, name) = self.certificate_secret.clone();
            return Ok(Certificate::SelfManaged(certificates::Options {
                wanted: Wanted {
                    hosts: self.certificate_host.clone(),
                    validity: self.certificate_validity,
                    authority_validity: self.certificate_authority_validity,
                },
                configuration: self.webhook_configuration.clone(),
                ..certificates::Options::new(&namespace, &name)
            }));
        }
        let cert = self.tls_cert_file.clone().context("--tls-cert-file is missing")?;
        let key = self.tls_private_key_file.clone().context("--tls-private-key-file is missing")?;
        Ok(Certificate::Files { cert, key })
    }

    /// Whom to let in.
    pub(super) fn clients(&self) -> Option<clients::Options> {
        let authorities = self.client_ca_file.clone()?;
        Some(clients::Options { authorities, names: self.client_allowed_names.clone() })
    }
}

fn object(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok((namespace.to_owned(), name.to_owned()))
        }
        Some(_) | None => Err("expected NAMESPACE/NAME".to_owned()),
    }
}

/// As it will be read from the certificate.
fn host(text: &str) -> Result<String, String> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    let is_label = |label: &str| {
        !label.is_empty() && label.len() < 64 && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match text.split('.').all(is_label) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("expected a host name or an address, without a port".to_owned()),
    }
}

/// Certificates count in seconds.
fn validity(text: &str) -> Result<SignedDuration, String> {
    match duration(text)? {
        duration if duration < Duration::from_secs(10) => Err("must be 10s or more".to_owned()),
        duration => SignedDuration::try_from(duration).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        certificates: Certificates,
    }

    fn parse(flags: &[&str]) -> Result<Certificates, String> {
        let cli = Cli::try_parse_from(["x"].iter().chain(flags)).map_err(|error| error.to_string())?;
        Ok(cli.certificates)
    }

    fn self_managed(flags: &[&str]) -> certificates::Options {
        match parse(&[&["--self-managed-certificate"], flags].concat()).unwrap().source().unwrap() {
            Certificate::SelfManaged(options) => options,
            Certificate::Files { .. } => panic!("it is from files"),
        }
    }

    #[test]
    fn the_certificate_is_from_files_or_self_managed_and_never_neither_or_both() {
        for (flags, blamed) in [
            (&[][..], "--tls-cert-file"),
            (&["--tls-cert-file=c"], "--tls-private-key-file"),
            (&["--tls-private-key-file=k"], "--tls-cert-file"),
            (&["--tls-cert-file=c", "--tls-private-key-file=k", "--self-managed-certificate"], "cannot be used with"),
            (&["--self-managed-certificate", "--client-allowed-names=a"], "--client-ca-file"),
        ] {
            let error = parse(flags).err().unwrap();
            assert!(error.contains(blamed), "{flags:?}: {error}");
        }
        let files = parse(&["--tls-cert-file=c", "--tls-private-key-file=k"]).unwrap().source().unwrap();
        assert!(matches!(files, Certificate::Files { .. }));
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let library = certificates::Options::new("eno-webhook-system", "eno-webhook-tls");
        assert_eq!(format!("{:?}", self_managed(&[])), format!("{library:?}"));
    }

    /// What differed from the certificate would have it made again and again.
    #[test]
    fn hosts_are_as_certificates_say_them() {
        let options = self_managed(&["--certificate-host=Webhook.Example,FD00::0:1,192.0.2.1"]);
        assert_eq!(options.wanted.hosts, ["webhook.example", "fd00::1", "192.0.2.1"]);
        for wrong in ["a:9443", "https://a", "a..b", "a_b", "*", ""] {
            assert!(parse(&["--self-managed-certificate", &format!("--certificate-host={wrong}")]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn refuses_a_certificate_that_would_end_at_once() {
        for wrong in ["--certificate-validity=0", "--certificate-authority-validity=9s", "--certificate-secret=a"] {
            assert!(parse(&["--self-managed-certificate", wrong]).is_err(), "{wrong}");
        }
    }
}
