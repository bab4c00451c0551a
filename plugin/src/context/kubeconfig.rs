//! Which cluster, user and namespace: the kubeconfig as kubectl merges it, and the flags over it.

use std::path::PathBuf;

use kube::config::{AuthInfo, Cluster, Config, Context, Kubeconfig};

use crate::cli::Connection;
use crate::failure::Failure;
use crate::warnings::Warnings;

/// Where to connect to, and as whom.
#[derive(Debug)]
pub(super) enum Resolved {
    /// There is no kubeconfig, and this runs in a pod.
    InCluster(Box<Config>),
    /// What kubeconfig and flags say.
    Kubeconfig {
        /// The cluster.
        cluster: Box<Cluster>,
        /// The user.
        user: Box<AuthInfo>,
        /// The context's namespace.
        namespace: String,
        /// What the context and the user are called; empty where there is none.
        names: Names,
    },
}

/// Names in a kubeconfig.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Of the context.
    pub context: String,
    /// Of the user.
    pub user: String,
}

/// Resolves kubeconfig and flags.
///
/// # Errors
/// Where the kubeconfig cannot be read, or lacks what the flags name.
pub(super) fn resolve(flags: &Connection, warnings: &Warnings) -> Result<Resolved, Failure> {
    let kubeconfig = of(flags, warnings)?;
    let empty = kubeconfig.clusters.is_empty() && kubeconfig.contexts.is_empty() && kubeconfig.auth_infos.is_empty();
    let names_any = [&flags.server, &flags.context, &flags.cluster, &flags.user].into_iter().any(Option::is_some);
    if empty
        && !names_any
        && let Ok(config) = Config::incluster()
    {
        return Ok(Resolved::InCluster(Box::new(overridden(config, flags))));
    }
    choose(kubeconfig, flags)
}

/// The kubeconfig as kubectl finds it.
///
/// # Errors
/// Where it cannot be read.
pub(super) fn of(flags: &Connection, warnings: &Warnings) -> Result<Kubeconfig, Failure> {
    read(flags, std::env::var_os("KUBECONFIG"), std::env::home_dir(), warnings)
}

/// Reads and merges the files. Of several, those that do not exist are skipped, as kubectl does.
fn read(
    flags: &Connection,
    variable: Option<std::ffi::OsString>,
    home: Option<PathBuf>,
    warnings: &Warnings,
) -> Result<Kubeconfig, Failure> {
    let load = |path: &PathBuf| {
        Kubeconfig::read_from(path)
            .map_err(|error| Failure::local(format_args!("error loading config file \"{}\": {error}", path.display())))
    };
    if let Some(path) = &flags.kubeconfig {
        if !path.exists() {
            return Err(Failure::local(format_args!("stat {}: no such file or directory", path.display())));
        }
        return load(path);
    }
    let listed: Vec<PathBuf> = variable
        .map(|variable| std::env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    let from_variable = !listed.is_empty();
    let paths = if from_variable { listed } else { home.into_iter().map(|home| home.join(".kube/config")).collect() };
    let present: Vec<&PathBuf> = paths.iter().filter(|path| path.exists()).collect();
    if from_variable && present.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        warnings.warn(format!("Config not found: {}", paths.join(", ")));
    }
    present
        .into_iter()
        .try_fold(Kubeconfig::default(), |merged, path| merged.merge(load(path)?).map_err(Failure::local))
}

fn choose(kubeconfig: Kubeconfig, flags: &Connection) -> Result<Resolved, Failure> {
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let context = match named(&flags.context).or(named(&kubeconfig.current_context)) {
        None => Context::default(),
        Some(name) => kubeconfig
            .contexts
            .into_iter()
            .find(|context| context.name == name)
            .and_then(|context| context.context)
            .ok_or_else(|| Failure::local(format_args!("context \"{name}\" does not exist")))?,
    };
    let names = Names {
        context: named(&flags.context).or(named(&kubeconfig.current_context)).unwrap_or_default(),
        user: named(&flags.user).or(named(&context.user)).unwrap_or_default(),
    };
    let mut cluster = match named(&flags.cluster).or(named(&Some(context.cluster))) {
        None => Cluster::default(),
        Some(name) => kubeconfig
            .clusters
            .into_iter()
            .find(|cluster| cluster.name == name)
            .and_then(|cluster| cluster.cluster)
            .ok_or_else(|| Failure::local(format_args!("cluster \"{name}\" does not exist")))?,
    };
    let user = match named(&flags.user) {
        // A context may name a user that does not exist: requests are anonymous then.
        None => named(&context.user).and_then(|name| kubeconfig.auth_infos.into_iter().find(|user| user.name == name)),
        Some(name) => Some(
            kubeconfig
                .auth_infos
                .into_iter()
                .find(|user| user.name == name)
                .ok_or_else(|| Failure::local(format_args!("auth info \"{name}\" does not exist")))?,
        ),
    };
    let mut user = user.and_then(|user| user.auth_info).unwrap_or_default();
    override_cluster(&mut cluster, flags);
    override_user(&mut user, flags);
    if cluster.server.as_deref().unwrap_or_default().is_empty() {
        // What kubectl says without a kubeconfig is that this was refused.
        cluster.server = Some("http://localhost:8080".to_owned());
    }
    let namespace = named(&context.namespace).unwrap_or_else(|| "default".to_owned());
    Ok(Resolved::Kubeconfig { cluster: Box::new(cluster), user: Box::new(user), namespace, names })
}

/// The configuration of a pod, with the same overrides as a kubeconfig's.
fn overridden(mut config: Config, flags: &Connection) -> Config {
    override_user(&mut config.auth_info, flags);
    config.root_cert_file = flags.certificate_authority.clone().or(config.root_cert_file);
    config.accept_invalid_certs |= flags.insecure_skip_tls_verify;
    config.disable_compression |= flags.disable_compression;
    config.tls_server_name = flags.tls_server_name.clone().or(config.tls_server_name);
    config
}

fn override_cluster(cluster: &mut Cluster, flags: &Connection) {
    if let Some(server) = &flags.server {
        cluster.server = Some(server.clone());
        // It was meant for the other server.
        cluster.tls_server_name = None;
    }
    if let Some(authority) = &flags.certificate_authority {
        cluster.certificate_authority = Some(authority.display().to_string());
        cluster.certificate_authority_data = None;
        cluster.insecure_skip_tls_verify = None;
    }
    if flags.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
        (cluster.certificate_authority, cluster.certificate_authority_data) = (None, None);
    }
    if let Some(name) = &flags.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if flags.disable_compression {
        cluster.disable_compression = Some(true);
    }
}

fn override_user(user: &mut AuthInfo, flags: &Connection) {
    if let Some(token) = &flags.token {
        user.token = Some(token.clone().into());
        (user.token_file, user.exec, user.auth_provider) = (None, None, None);
        (user.username, user.password) = (None, None);
    }
    if let Some(certificate) = &flags.client_certificate {
        user.client_certificate = Some(certificate.display().to_string());
        user.client_certificate_data = None;
    }
    if let Some(key) = &flags.client_key {
        user.client_key = Some(key.display().to_string());
        user.client_key_data = None;
    }
    if let Some(name) = &flags.as_user {
        user.impersonate = Some(name.clone());
    }
    if let Some(uid) = &flags.as_uid {
        user.impersonate_uid = Some(uid.clone());
    }
    if !flags.as_group.is_empty() {
        user.impersonate_groups = Some(flags.as_group.clone());
    }
    for (key, value) in &flags.as_user_extra {
        user.impersonate_user_extra.get_or_insert_default().entry(key.clone()).or_default().push(value.clone());
    }
}

#[cfg(test)]
mod tests;
