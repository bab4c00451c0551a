//! kubectl's own flags: which API server, as whom.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::duration;

/// kubectl's connection flags, by its names. `kubectl eno options` lists them.
#[derive(Debug, Default, Args)]
pub struct Connection {
    /// Path of the kubeconfig file
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Address and port of the API server
    #[arg(short, long, global = true, hide = true, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, hide = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Path of a client certificate
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// Path of the client certificate's key
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Path of the certificate authority of the API server
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// Name that the API server's certificate must have
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Do not check the API server's certificate: connections are insecure
    #[arg(long, global = true, hide = true)]
    pub insecure_skip_tls_verify: bool,
    /// User to impersonate
    #[arg(long = "as", id = "as", global = true, hide = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Uid to impersonate
    #[arg(long, global = true, hide = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Group to impersonate; may be repeated
    #[arg(long, global = true, hide = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// Extra of the user to impersonate; may be repeated
    #[arg(long, global = true, hide = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub as_user_extra: Vec<(String, String)>,
    /// Time for one request: seconds, or such as 1s, 2m, 3h; 0 is without end
    #[arg(long, global = true, hide = true, value_name = "TIME", default_value = "0", value_parser = duration::parse_timeout)]
    pub request_timeout: Duration,
    /// Do not ask the API server to compress its answers
    #[arg(long, global = true, hide = true)]
    pub disable_compression: bool,
    /// Accepted as kubectl accepts it; kubectl eno keeps no cache
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    pub cache_dir: Option<PathBuf>,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
