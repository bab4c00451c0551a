//! From kubectl's flags and a kubeconfig to a client.

pub mod credentials;
mod kubeconfig;
mod observe;
mod proxy;

use std::time::Duration;

use http::header::{HeaderValue, USER_AGENT};
use kube::client::{Client, ClientBuilder};
use kube::config::{AuthInfo, Cluster, Config, ExecAuthCluster};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::cli::Connection;
use crate::failure::Failure;
use crate::identity::Identity;
use crate::warnings::Warnings;
use kubeconfig::Resolved;

/// What a kubeconfig names.
#[derive(Debug, Default)]
pub struct KubeconfigNames {
    /// Contexts.
    pub contexts: Vec<String>,
    /// Clusters.
    pub clusters: Vec<String>,
    /// Users.
    pub users: Vec<String>,
}

/// What the kubeconfig of the flags names.
///
/// # Errors
/// Where it cannot be read.
pub fn names(flags: &Connection, warnings: &Warnings) -> Result<KubeconfigNames, Failure> {
    let kubeconfig = kubeconfig::of(flags, warnings)?;
    Ok(KubeconfigNames {
        contexts: kubeconfig.contexts.into_iter().map(|context| context.name).collect(),
        clusters: kubeconfig.clusters.into_iter().map(|cluster| cluster.name).collect(),
        users: kubeconfig.auth_infos.into_iter().map(|user| user.name).collect(),
    })
}

/// A client, and what it was made of.
pub struct Context {
    /// The client.
    pub client: Client,
    /// `HOST:PORT` of the API server, for messages.
    pub host: String,
    /// The namespace of the kubeconfig's context.
    pub namespace: String,
    /// The time for one request.
    pub timeout: Duration,
    /// Which cluster it is, and as whom it is asked, by their names.
    pub identity: Identity,
}

impl Context {
    /// Makes a client. `verbosity` from 6 on shows each request on stderr.
    ///
    /// # Errors
    /// Where the kubeconfig cannot be read or used, or gives no credentials.
    pub fn new(flags: &Connection, verbosity: u8, warnings: &Warnings) -> Result<Self, Failure> {
        let (config, context, user) = match kubeconfig::resolve(flags, warnings)? {
            Resolved::InCluster(config) => (*config, String::new(), String::new()),
            Resolved::Kubeconfig { cluster, user, namespace, names } => {
                (config(&cluster, *user, namespace)?, names.context, names.user)
            }
        };
        let impersonated = config.auth_info.impersonate.clone();
        let identity = Identity { context, cluster: config.cluster_url.to_string(), user, impersonated };
        let host = shown(&config);
        let namespace = config.default_namespace.clone();
        let client = client(config, verbosity, warnings).map_err(|error| match error {
            kube::Error::Auth(error) => credentials::failure(&error),
            kube::Error::ProxyProtocolUnsupported { proxy_url } => Failure::local(format_args!(
                "unsupported scheme {:?} of the proxy, must be http, https, or socks5",
                proxy_url.scheme_str().unwrap_or_default()
            )),
            error => Failure::transport(&error, &host),
        })?;
        Ok(Context { client, host, namespace, timeout: flags.request_timeout, identity })
    }
}

fn config(cluster: &Cluster, user: AuthInfo, namespace: String) -> Result<Config, Failure> {
    let server = cluster.server.as_deref().unwrap_or_default();
    // kubectl takes a host alone for http.
    let server = if server.contains("://") { server.to_owned() } else { format!("http://{server}") };
    let url: http::Uri =
        server.parse().map_err(|error| Failure::local(format_args!("invalid server {server:?}: {error}")))?;
    let mut config = Config::new(url);
    config.default_namespace = namespace;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or_default();
    config.disable_compression = cluster.disable_compression.unwrap_or_default();
    config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    config.root_cert = authorities(cluster)?;
    config.proxy_url = proxy::decide(cluster.proxy_url.as_deref(), &config.cluster_url).map_err(Failure::local)?;
    config.auth_info = credentials::prepare(user, cluster)?;
    Ok(config)
}

/// The certificate authorities, as DER.
fn authorities(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    // The only public reader of kube's that takes data and files alike.
    let loaded = ExecAuthCluster::try_from(cluster).map_err(Failure::local)?;
    let Some(pem) = loaded.certificate_authority_data else { return Ok(None) };
    let certificates: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(&pem)
        .map(|certificate| certificate.map(|certificate| certificate.to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::local(format_args!("unable to load root certificates: {error}")))?;
    if certificates.is_empty() {
        return Err(Failure::local("unable to load root certificates: no PEM block of a certificate found"));
    }
    Ok(Some(certificates))
}

fn client(mut config: Config, verbosity: u8, warnings: &Warnings) -> kube::Result<Client> {
    let agent = concat!("kubectl-eno/", env!("CARGO_PKG_VERSION"));
    let agent = format!("{agent} ({}/{})", std::env::consts::OS, std::env::consts::ARCH);
    let agent = HeaderValue::from_str(&agent).expect("a version, a system and an architecture are visible ASCII");
    config.headers.push((USER_AGENT, agent));
    let observe = observe::ObserveLayer::new(verbosity, warnings.clone(), host_port(&config.cluster_url));
    Ok(ClientBuilder::try_from(config)?.with_layer(&observe).build())
}

/// Where a connection goes, for messages.
fn shown(config: &Config) -> String {
    let host = host_port(&config.cluster_url);
    match &config.proxy_url {
        // Without its user and password.
        Some(proxy) => format!("{host} (through the proxy {})", host_port(proxy)),
        None => host,
    }
}

fn host_port(url: &http::Uri) -> String {
    let host = url.host().unwrap_or_default();
    let default = if url.scheme_str() == Some("https") { 443 } else { 80 };
    match url.port_u16() {
        Some(port) if port != default => format!("{host}:{port}"),
        Some(_) | None => host.to_owned(),
    }
}
