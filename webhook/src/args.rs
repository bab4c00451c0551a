//! The command line. Flags are named as Kubernetes' own components name them.

mod certificates;
mod control;
mod pods;
mod sinks;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args as Flags, Parser, Subcommand};
use eno_shared::names::WEBHOOK_NAME;
use jiff::SignedDuration;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::{Config, Target};
use crate::mode::Mode;
use crate::server::{Certificate, Options};
use crate::telemetry::LogFormat;
use crate::uninstall::Uninstall;
use certificates::Certificates;
use control::Control;
use pods::{PodLabels, Pods};
use sinks::Sinks;

/// Admission for Eno: keeps the slices that something still needs.
#[derive(Debug, Parser)]
#[command(name = "eno-webhook", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the webhook configurations to apply.
    PrintConfig(PrintConfig),
    /// Remove what the manifests have installed: the webhook configurations first.
    Uninstall(Uninstall),
}

#[derive(Debug, Flags)]
pub(crate) struct Serve {
    /// Kubeconfig of the cluster; without, the service account of the pod.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Address for admission; `::` takes IPv4 too, and is 0.0.0.0 where IPv6 is switched off.
    #[arg(long, value_name = "IP", default_value_t = Ipv6Addr::UNSPECIFIED.into())]
    bind_address: IpAddr,
    /// Port for admission; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 9443)]
    secure_port: u16,
    /// Address for /livez, /readyz and /metrics, without TLS; `:0` takes a free port.
    #[arg(long, value_name = "[IP]:PORT", default_value = ":8080", value_parser = socket_address)]
    metrics_bind_address: SocketAddr,
    /// How far denials go.
    #[arg(long, value_enum, default_value_t = Mode::Enforce)]
    mode: Mode,
    /// Watch this namespace only (can be repeated): the controllers keep to it, and admission lists the compositions of
    /// others when it is asked about them.
    #[arg(long = "composition-namespace", value_name = "NAMESPACE")]
    composition_namespaces: Vec<String>,
    /// After a signal to end: how long to answer on while unready.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    shutdown_delay_duration: Duration,
    /// After that: how long open requests may take.
    #[arg(long, value_name = "DURATION", default_value = "6s", value_parser = duration)]
    shutdown_drain_duration: Duration,
    #[command(flatten)]
    certificates: Certificates,
    #[command(flatten)]
    control: Control,
    #[command(flatten)]
    pods: Pods,
    #[command(flatten)]
    sinks: Sinks,
    /// How log lines look.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// How much is logged: 0 to 6; RUST_LOG wins.
    #[arg(short, long = "v", value_name = "LEVEL", default_value_t = 0)]
    pub(crate) verbosity: u8,
}

#[derive(Debug, Flags)]
#[command(group = clap::ArgGroup::new("target").required(true))]
pub(crate) struct PrintConfig {
    /// Where the API server reaches the webhook: `https://HOST:PORT`.
    #[arg(long, value_name = "URL", value_parser = https, group = "target")]
    url: Option<String>,
    /// The Service of the webhook.
    #[arg(long, value_name = "NAMESPACE/NAME[:PORT]", value_parser = service, group = "target")]
    service: Option<Target>,
    /// Who signed the serving certificate, in PEM.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Name of both configurations.
    #[arg(long, default_value = WEBHOOK_NAME)]
    name: String,
    /// Guard only namespaces with this label (can be repeated; all must match).
    #[arg(long = "namespace-selector", value_name = "KEY=VALUE", value_parser = label)]
    namespaces: Vec<(String, String)>,
    #[command(flatten)]
    pods: PodLabels,
}

impl Serve {
    /// The options of the server.
    pub(crate) fn options(&self) -> Result<Options> {
        let certificate = self.certificates.source()?;
        // Each once: two watches of one would contradict each other while they list.
        let namespaces: BTreeSet<_> = self.composition_namespaces.iter().cloned().collect();
        let namespaces = Vec::from_iter(namespaces);
        let control = self.control.options(&namespaces, &self.pods, &self.sinks);
        if let Some(pods) = control.as_ref().and_then(|control| control.pods.as_ref()) {
            pods.sinks.check()?;
        }
        let writes = control.is_some() || matches!(certificate, Certificate::SelfManaged(_));
        Ok(Options {
            bind_address: self.bind_address,
            secure_port: self.secure_port,
            metrics_bind_address: self.metrics_bind_address,
            mode: self.mode,
            composition_namespaces: namespaces,
            shutdown_delay: self.shutdown_delay_duration,
            drain: self.shutdown_drain_duration,
            control,
            election: self.control.election().filter(|_| writes),
            clients: self.certificates.clients(),
            ..Options::new(certificate)
        })
    }
}

impl PrintConfig {
    /// What to print.
    pub(crate) fn config(self) -> Result<Config> {
        let target = self.url.map(Target::Url).or(self.service).context("--url or --service is missing")?;
        let ca = self.ca_file.as_deref().map(authorities).transpose()?;
        let namespaces = self.namespaces.into_iter().collect();
        let (pods, pod_namespaces) = (self.pods.labels(), self.pods.namespace_labels());
        Ok(Config { name: self.name, target, ca, namespaces, pods, pod_namespaces })
    }
}

/// The file of `--ca-file`. What is in it is printed, and then readable by all who read configurations.
fn authorities(path: &Path) -> Result<Vec<u8>> {
    let pem = std::fs::read(path).with_context(|| format!("cannot read --ca-file {}", path.display()))?;
    ensure!(
        CertificateDer::pem_slice_iter(&pem).next().is_some_and(|first| first.is_ok()),
        "--ca-file {} holds no certificate",
        path.display()
    );
    ensure!(PrivateKeyDer::from_pem_slice(&pem).is_err(), "--ca-file {} holds a private key", path.display());
    Ok(pem)
}

/// `10s`, `1m30s`, and `0` as Go has it.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    Duration::try_from(duration).map_err(|_| "must not be negative".to_owned())
}

/// `IP:PORT`, or `:PORT` for all addresses.
fn socket_address(text: &str) -> Result<SocketAddr, String> {
    let (ip, port) = text.rsplit_once(':').ok_or("no port: expected IP:PORT or :PORT")?;
    if ip.is_empty() {
        let port = port.parse().map_err(|error| format!("port {port:?}: {error}"))?;
        return Ok(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)));
    }
    text.parse().map_err(|_| "expected IP:PORT, [IP]:PORT or :PORT".to_owned())
}

fn https(text: &str) -> Result<String, String> {
    match text.strip_prefix("https://") {
        // The path of the hook comes after it.
        Some(rest) if rest.contains(['?', '#', '@']) => Err("expected https://HOST:PORT, and no more".to_owned()),
        Some(rest) if !rest.is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err("the API server calls webhooks by https:// only".to_owned()),
    }
}

fn service(text: &str) -> Result<Target, String> {
    let (namespace, rest) = text.split_once('/').ok_or("expected NAMESPACE/NAME")?;
    let (name, port) = match rest.split_once(':') {
        Some((name, port)) => {
            (name, port.parse::<NonZeroU16>().map_err(|error| format!("port {port:?}: {error}"))?.get())
        }
        None => (rest, 443),
    };
    if namespace.is_empty() || name.is_empty() {
        return Err("expected NAMESPACE/NAME".to_owned());
    }
    Ok(Target::Service { namespace: namespace.to_owned(), name: name.to_owned(), port: port.into() })
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(args: &[&str]) -> Result<Options> {
        let needed = ["eno-webhook", "--tls-cert-file=c", "--tls-private-key-file=k"];
        Args::try_parse_from(needed.iter().chain(args))?.serve.options()
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        // The library runs no controllers unless it is told how.
        let (parsed, library) = (serve(&["--controllers="]).unwrap(), Options::new(Certificate::files("c", "k")));
        assert_eq!(format!("{parsed:?}"), format!("{library:?}"));
    }

    #[test]
    fn takes_addresses_and_durations_as_kubernetes_writes_them() {
        let options = serve(&["--metrics-bind-address=:0", "--shutdown-delay-duration=1m30s"]).unwrap();
        assert_eq!(options.metrics_bind_address.to_string(), "[::]:0");
        assert_eq!(options.shutdown_delay, Duration::from_secs(90));
        assert_eq!(serve(&["--shutdown-delay-duration=0"]).unwrap().shutdown_delay, Duration::ZERO);
        let options = serve(&["--metrics-bind-address=127.0.0.1:9", "--bind-address=0.0.0.0"]).unwrap();
        assert_eq!(options.metrics_bind_address.to_string(), "127.0.0.1:9");
    }

    #[test]
    fn a_namespace_that_is_named_twice_is_watched_once() {
        let twice = ["b", "a", "b"].map(|namespace| format!("--composition-namespace={namespace}"));
        let options = serve(&twice.each_ref().map(String::as_str)).unwrap();
        assert_eq!(options.composition_namespaces, ["a", "b"]);
        assert_eq!(options.control.unwrap().controllers.namespaces, ["a", "b"]);
    }

    #[test]
    fn refuses_what_it_does_not_understand_and_names_the_flag() {
        for wrong in
            ["--metrics-bind-address=9", "--shutdown-delay-duration=-1s", "--mode=off", "--bind-address=localhost"]
        {
            let flag = wrong.split('=').next().unwrap();
            assert!(serve(&[wrong]).unwrap_err().to_string().contains(flag), "{wrong}");
        }
    }

    #[test]
    fn destroys_are_not_sent_where_they_must_not_go() {
        let refused = serve(&["--sink-url=http://127.0.0.1"]).unwrap_err().to_string();
        assert!(refused.starts_with("--sink-url http://127.0.0.1/: loopback"), "{refused}");
        assert!(serve(&["--sink-url=http://127.0.0.1", "--sink-allow-local"]).is_ok());
    }

    fn print_config(args: &[&str]) -> Result<Config> {
        match Args::try_parse_from(["eno-webhook", "print-config"].iter().chain(args))?.command {
            Some(Command::PrintConfig(print)) => print.config(),
            Some(Command::Uninstall(_)) | None => anyhow::bail!("not print-config"),
        }
    }

    #[test]
    fn prints_no_configuration_that_the_api_server_refuses() {
        for (args, blamed) in [
            (&[][..], "<--url <URL>|--service <NAMESPACE/NAME[:PORT]>>"),
            (&["--url=https://a", "--service=a/b"], "cannot be used with"),
            (&["--service=a/b:65536"], "port \"65536\""),
            (&["--service=a/b:0"], "port \"0\""),
            (&["--url=http://a"], "https:// only"),
            (&["--url=https://a?b"], "and no more"),
            (&["--url=https://me@a"], "and no more"),
        ] {
            let error = print_config(args).unwrap_err().to_string();
            assert!(error.contains(blamed), "{args:?}: {error}");
        }
    }

    #[test]
    fn prints_no_authority_but_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let pair = rcgen::generate_simple_self_signed(["ca".to_owned()]).unwrap();
        let (cert, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
        let print = |content: &str| {
            let file = folder.path().join("ca.crt");
            std::fs::write(&file, content).unwrap();
            print_config(&["--url=https://a", "--ca-file", file.to_str().unwrap()])
        };
        assert_eq!(print(&cert).unwrap().ca, Some(cert.clone().into_bytes()));
        assert!(print("").unwrap_err().to_string().ends_with("holds no certificate"));
        assert!(print(&key).unwrap_err().to_string().ends_with("holds no certificate"));
        assert!(print(&(cert + &key)).unwrap_err().to_string().ends_with("holds a private key"));
    }
}
